"""The body of a request for a run: which rules."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from edfi_api.documents import violations
from edfi_api.documents.exceptions import DataValidationFailed
from edfi_api.documents.violations import MOST_REPORTED, Violation

_MEMBERS = ("rules", "categories")


def chosen_rules(body: Mapping[str, Any], active: Iterable[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Identifiers and categories; `active` are those of the rules that there are. Raises DataValidationFailed."""
    known = dict(zip(_MEMBERS, map(set, zip(*active, strict=True)), strict=False))
    found = [violations.unknown_member(f"$.{name}") for name in body if name not in _MEMBERS]
    chosen = []
    for member in _MEMBERS:
        values = body.get(member) or []
        found += islice(_violations(values, f"$.{member}", known.get(member, set())), MOST_REPORTED)
        chosen.append(values)
    if found:
        raise DataValidationFailed(found)
    return chosen[0], chosen[1]


def _violations(values: Any, path: str, known: set[str]) -> Iterable[Violation]:
    if not isinstance(values, list):
        yield violations.wrong_type(path, type(values).__name__, "array")
        return
    for number, value in enumerate(values):
        if not isinstance(value, str) or value not in known:
            yield violations.not_one_of(f"{path}[{number}]", sorted(known))
