"""The questions of the page, and when an answer is right."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[3] / "meadowlark/docs/use/hundred-questions.md"
# The demo district that the answers are of.
STUDENTS, TODAY = 200, "2026-06-05"
_QUESTION = re.compile(r"^(\d+)\. (.+)\n\n```sql\n([^`]*)```\n\n```json\n([^`]*)```", re.MULTILINE)

Rows = list[list[Any]]


@dataclass(frozen=True)
class Question:
    """A question in words, the statement that answers it, and the rows of the answer."""

    number: int
    words: str
    statement: str
    rows: Rows

    def is_answered_by(self, answer: Any) -> bool:
        """Whether an answer has these rows, in any order, with the values of a row in any order. A single value may
        stand without its row, and numbers are compared as they are shown, to two digits."""
        rows = answer if isinstance(answer, list) else [answer]
        rows = [row if isinstance(row, list) else [row] for row in rows]
        return _as_set(rows) == _as_set(self.rows)


def questions() -> list[Question]:
    """The questions of the page, in their order."""
    found = _QUESTION.findall(PAGE.read_text())
    return [Question(int(number), words, statement, json.loads(rows)) for number, words, statement, rows in found]


def with_answers(page: str, answers: dict[int, Rows]) -> str:
    """The text of the page with these answers, each row on a line."""

    def replaced(found: re.Match[str]) -> str:
        rows = ",\n ".join(json.dumps(row, ensure_ascii=False) for row in answers[int(found[1])])
        return f"{found[1]}. {found[2]}\n\n```sql\n{found[3]}```\n\n```json\n[{rows}]\n```"

    return _QUESTION.sub(replaced, page)


def _as_set(rows: Rows) -> Counter[tuple[str, ...]]:
    return Counter(tuple(sorted(map(_plain, row))) for row in rows)


def _plain(value: Any) -> str:
    match value:
        case bool() | None:
            return str(value).lower()
        case int() | float():
            return f"{Decimal(str(value)):.2f}"
        case _:
            return " ".join(str(value).lower().split())
