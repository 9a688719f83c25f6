"""The thirty questions of the guide for analysts as prompts of assistants, with parameters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PAGE = Path(__file__).parents[3] / "meadowlark/docs/use/thirty-questions.md"
_QUESTION = re.compile(r"^(\d+)\. (.+)\n\n```sql\n([^`]*)```", re.MULTILINE)
# The parameters that every question has, with their meanings.
PARAMETERS = {
    "school": "Only this school: its name or number. Without, all that you may see.",
    "school_year": "Only this school year, such as 2027.",
    "remark": "What else matters: another grade, a list instead of numbers, a plot.",
}


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """A question in words, and the statement that answers it."""

    name: str
    words: str
    statement: str

    def text(self, given: Mapping[str, str]) -> str:
        """Return what the assistant is asked, with what was given for the parameters."""
        wishes = [f"{name.replace('_', ' ')}: {given[name]}" for name in PARAMETERS if given.get(name)]
        narrowed = [
            "Change the statement so that it answers for these, after find has shown you their numbers:",
            *wishes,
        ]
        lines = [
            self.words,
            "",
            "This statement answers it; execute it with ask. Numbers of schools in it are those of an example.",
            f"```sql\n{self.statement}```",
            *(narrowed if wishes else []),
            "Then say what the answer means, and which data it is from.",
        ]
        return "\n".join(lines)


@cache
def prepared_questions() -> dict[str, PreparedQuestion]:
    """Return the questions of the page by name."""
    found = _QUESTION.findall(_PAGE.read_text())
    return {
        name: PreparedQuestion(name, words, statement)
        for number, words, statement in found
        for name in (f"question_{number}",)
    }
