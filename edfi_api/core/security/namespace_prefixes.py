"""Which namespaces a namespace prefix covers: the namespace that it is, and those below, behind a delimiter.

`uri://education.example` covers `uri://education.example/x` and not `uri://education.example.evil`. A prefix that ends
with another character than a letter or a digit covers all that begin with it, and so does each one with the setting
PLAIN_NAMESPACE_PREFIXES, as in the ODS/API.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from edfi_api.common.ods_compatibility import OdsCompatibility

_AUTHORITY = "//"
_DELIMITERS = "/?#"
# In a URN it divides segments; behind an authority a port or a password would follow.
_COLON = ":"


class Covered(NamedTuple):
    """The namespaces that begin with one of the `beginnings`, and those that are equal to one of the `wholes`."""

    beginnings: list[str]
    wholes: list[str]


def covered(prefixes: Iterable[str]) -> Covered:
    """Return what these prefixes cover together."""
    return _covered(tuple(prefixes), OdsCompatibility.PLAIN_NAMESPACE_PREFIXES.applies)


def covers(prefixes: Iterable[str], namespace: str) -> bool:
    """Whether one of the prefixes covers the namespace."""
    beginnings, wholes = covered(prefixes)
    return namespace in wholes or namespace.startswith(tuple(beginnings))


@lru_cache(maxsize=1024)
def _covered(prefixes: tuple[str, ...], is_plain: bool) -> Covered:
    found = Covered([], [])
    for prefix in prefixes:
        if is_plain or not prefix[-1:].isalnum():
            found.beginnings.append(prefix)
            continue
        delimiters = _DELIMITERS if _AUTHORITY in prefix else _DELIMITERS + _COLON
        found.beginnings.extend(prefix + delimiter for delimiter in delimiters)
        found.wholes.append(prefix)
    return found
