"""The questions of the page for analysts, and their statements."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "meadowlark/docs/use/thirty-questions.md"
_VIEW = re.compile(r"\b(edfi|edfi_text)\.(\w+)")

# By the number on the page: the question and its statement.
QUESTIONS = {
    int(number): (words, statement)
    for number, words, statement in re.findall(
        r"^(\d+)\. (.+)\n\n```sql\n([^`]*)```", PAGE.read_text(), flags=re.MULTILINE
    )
}


def views() -> list[tuple[str, str]]:
    """Schema and name of every view that one of them reads."""
    return sorted({found for _, statement in QUESTIONS.values() for found in _VIEW.findall(statement)})


def over_plain_tables(statement: str) -> str:
    """Return the statement over tables in the schemas `plain` and `plain_text`."""
    return _VIEW.sub(lambda found: f"{found[1].replace('edfi', 'plain')}.{found[2]}", statement)
