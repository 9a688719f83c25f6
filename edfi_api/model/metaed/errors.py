"""Problems of MetaEd text as values, each with its place, and the exception that contains them.

Every stage collects problems instead of raising, so that an author sees all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from edfi_api.model.metaed.model import SourceLocation

EXCERPT_WIDTH = 120


class ProblemSeverity(StrEnum):
    """Projects with an error cannot be served; with warnings they can."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One error or warning at one place.

    `expected` lists what the grammar allows there, in the phrases of the language; `excerpt` shows the line
    and points at the place. Both can be empty.
    """

    place: SourceLocation
    message: str
    severity: ProblemSeverity = ProblemSeverity.ERROR
    expected: tuple[str, ...] = ()
    excerpt: str = ""

    @property
    def is_error(self) -> bool:
        return self.severity is ProblemSeverity.ERROR

    def __str__(self) -> str:
        message = self.message if self.is_error else f"warning: {self.message}"
        headline = f"{self.place}: {message}"
        return f"{headline}\n{self.excerpt}" if self.excerpt else headline


class MetaEdError(Exception):
    """The base class of the exceptions of this package."""


class ModelErrors(MetaEdError):
    """The projects cannot be compiled. Contains all problems, including warnings, in order of place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


def error(place: SourceLocation, message: str) -> Problem:
    return Problem(place, message)


def warning(place: SourceLocation, message: str) -> Problem:
    return Problem(place, message, ProblemSeverity.WARNING)


def suggestion(wrong: str, right: Iterable[str]) -> str:
    """A clause that suggests the closest of the right words; empty if none is close."""
    close = get_close_matches(wrong, list(right), n=1, cutoff=0.7)
    return f"; did you mean '{close[0]}'?" if close else ""


def indefinite(noun: str) -> str:
    """The noun with its article: a bool, an association."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def excerpt(line: str, place: SourceLocation) -> str:
    """The line with its number, and a caret below the column. Long lines are cut around the place."""
    start = max(0, place.column - EXCERPT_WIDTH // 2) if len(line) > EXCERPT_WIDTH else 0
    shown = line[start : start + EXCERPT_WIDTH]
    # The indentation keeps tabs, so that the caret is in the right column whatever the tab width.
    indent = "".join("\t" if character == "\t" else " " for character in shown[: place.column - 1 - start])
    return f"{place.line:>6} | {shown}\n{'':>6} | {indent}^"
