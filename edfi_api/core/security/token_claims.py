"""Claims of a token: where they are, and the lists that they are read as."""

import re
from collections.abc import Mapping
from typing import Any

# A dotted path; names with dots are in quotes: realm_access.roles, "https://edfi.example.org/roles".
_STEP = r'(?:"[^"]+"|[^".]+)'
_PATH = re.compile(rf"{_STEP}(?:\.{_STEP})*")
_STEPS = re.compile(_STEP)


class ClaimMalformed(Exception):
    """A claim is not of the form that its use needs."""


def is_path(text: str) -> bool:
    return bool(_PATH.fullmatch(text))


def value_at(claims: Mapping[str, Any], path: str) -> Any:
    """The value to which the path leads; None if there is none."""
    value: Any = claims
    for step in _STEPS.findall(path):
        if not isinstance(value, Mapping):
            return None
        value = value.get(step.strip('"'))
    return value


def texts(value: Any) -> tuple[str, ...]:
    """The items of an array of texts, or of a text that commas separate, without blank ones. None is an empty list.

    Raises ClaimMalformed.
    """
    items = value.split(",") if isinstance(value, str) else [] if value is None else value
    if not isinstance(items, list) or not all(isinstance(each, str) and each.isprintable() for each in items):
        raise ClaimMalformed
    return tuple(stripped for each in items if (stripped := each.strip()))


def positive_numbers(value: Any) -> tuple[int, ...]:
    """The items of an array of positive numbers of 64 bits, or of a text that commas separate. One number is a list.

    Raises ClaimMalformed, also for blank items: a list that is not what was intended is not used at all.
    """
    items = value.split(",") if isinstance(value, str) and value else value or []
    return tuple(_positive_number(each) for each in (items if isinstance(items, list) else [items]))


def _positive_number(value: Any) -> int:
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,19}\s*", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**63:
        raise ClaimMalformed
    return value
