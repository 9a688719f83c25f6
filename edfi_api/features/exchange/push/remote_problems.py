"""The problem of a refusal of another API, as far as it has the form of Ed-Fi's problems.

Its size is bounded: those of thousands of documents wait together until they are recorded.
"""

from collections.abc import Mapping
from typing import Any

from edfi_api.common.logs.printable import printable

_LONGEST_NAME, _LONGEST_TEXT = 200, 1000
_MOST_PATHS, _MOST_TEXTS = 50, 10
# Characters of all texts of a problem.
_MOST_CHARACTERS = 6_000
_TEXTS = ("type", "title", "message", "error", "correlationId")


def bounded(said: Any) -> dict[str, Any]:
    """The members that are used, without what exceeds the limits; empty for what is no problem."""
    if not isinstance(said, Mapping):
        return {}
    left = _MOST_CHARACTERS

    def text(value: Any, longest: int) -> str:
        nonlocal left
        found = printable(value[:longest])[: min(longest, left)] if isinstance(value, str) else ""
        left -= len(found)
        return found

    problem: dict[str, Any] = {name: text(said.get(name), _LONGEST_NAME) for name in _TEXTS}
    problem["detail"] = text(said.get("detail"), _LONGEST_TEXT)
    problem["errors"] = [found for each in _listed(said.get("errors")) if (found := text(each, _LONGEST_TEXT))]
    errors = said.get("validationErrors")
    paths = list(errors.items())[:_MOST_PATHS] if isinstance(errors, Mapping) else []
    problem["validationErrors"] = {
        text(path, _LONGEST_NAME): kept
        for path, texts in paths
        if (kept := [found for each in _listed(texts) if (found := text(each, _LONGEST_TEXT))])
    }
    return problem


def _listed(said: Any) -> list[Any]:
    return said[:_MOST_TEXTS] if isinstance(said, list) else []
