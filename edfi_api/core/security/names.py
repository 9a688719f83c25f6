"""Names of clients, claim sets and the like, and namespace prefixes: which are valid, and which namespaces a prefix
covers.

`uri://education.example` covers `uri://education.example/x` and not `uri://education.example.evil`. A prefix that ends
with another character than a letter or a digit covers all that begin with it, and so does each one with the setting
PLAIN_NAMESPACE_PREFIXES, as in the ODS/API.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from django.core.exceptions import ValidationError

from edfi_api.common.ods_compatibility import OdsCompatibility

_CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
NAME = rf"\A(?=.*\S)[^{_CONTROL}]*\Z"
_PREFIX = rf"\A(?!\s)[^{_CONTROL}]+(?<!\s)\Z"

_AUTHORITY = "//"
_DELIMITERS = "/?#"
# In a URN it divides segments; after an authority a port or a password would follow.
_COLON = ":"


def validate_name(text: str) -> None:
    """Raise ValidationError unless it is one line with visible characters."""
    if not re.search(NAME, text):
        raise ValidationError("A name is one line without control characters, and not blank.")


def validate_namespace_prefix(text: str) -> None:
    """Raise ValidationError for blank text, which would be a prefix of every namespace, and for control characters."""
    if not re.search(_PREFIX, text):
        raise ValidationError("A namespace prefix has no blanks around it and no control characters.")


class Covered(NamedTuple):
    """The namespaces that begin with one of the `beginnings`, and those that are equal to one of the
    `complete_names`."""

    beginnings: list[str]
    complete_names: list[str]


def covered(prefixes: Iterable[str]) -> Covered:
    """Return what these prefixes cover together."""
    return _covered(tuple(prefixes), OdsCompatibility.PLAIN_NAMESPACE_PREFIXES.applies)


def covers(prefixes: Iterable[str], namespace: str) -> bool:
    """Return whether one of the prefixes covers the namespace."""
    beginnings, complete_names = covered(prefixes)
    return namespace in complete_names or namespace.startswith(tuple(beginnings))


@lru_cache(maxsize=1024)
def _covered(prefixes: tuple[str, ...], is_plain: bool) -> Covered:
    found = Covered([], [])
    for prefix in prefixes:
        if is_plain or not prefix[-1:].isalnum():
            found.beginnings.append(prefix)
            continue
        delimiters = _DELIMITERS if _AUTHORITY in prefix else _DELIMITERS + _COLON
        found.beginnings.extend(prefix + delimiter for delimiter in delimiters)
        found.complete_names.append(prefix)
    return found
