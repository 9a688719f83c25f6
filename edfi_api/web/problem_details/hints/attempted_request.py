"""What was attempted, from which hints are made, and how hints show values."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson

from edfi_api.core.documents import blanks, json_text
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.model.surface.resource import Resource, Surface

LONGEST_VALUE = 60
# The length of the URI of a descriptor, which is shown as a whole.
LONGEST_URI = 320


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedRequest:
    """A refused request, or an operation of a batch, as far as it was understood.

    `path` begins at the root of the server. `meta` has the headers as WSGI names them. `schema` is the JSON
    schema of the resource; None if the client sees the resource through a profile. `unknown` are the paths in the
    `document` of members that the resource does not have.
    """

    method: str
    path: str
    meta: Mapping[str, Any] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict)
    resource: Resource | None = None
    schema: dict[str, Any] | None = None
    document: dict[str, Any] | None = None
    unknown: tuple[str, ...] = ()
    surface: Surface | None = None
    client: AuthenticatedClient | None = None
    using: str | None = None


def shown(value: Any) -> str:
    """A value as JSON, cut: `"yesterday"`, `604831`, `an object`."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list" if value else "an empty list"
        case str():
            return f'"{cut(value, LONGEST_VALUE)}"'
    return cut(orjson.dumps(value, default=json_text.exact_number).decode(), LONGEST_VALUE)


def quoted(text: str) -> str:
    """A text that is longer than others, such as the URI of a descriptor."""
    return f'"{cut(text, LONGEST_URI)}"'


def distinguished(value: Any, sent: Any) -> str:
    """A stored value, as it is distinguished from what was sent: with escapes if it looks the same."""
    if not isinstance(value, str) or not isinstance(sent, str):
        return shown(value)
    return blanks.distinguished(cut(value, LONGEST_URI), sent)


def listed(names: Iterable[str], most: int = 12) -> str:
    """`a, b and c`; of many the first, and `...`."""
    found = list(islice(names, most + 1))
    if len(found) > most:
        return f"{', '.join(found[:most])}, ..."
    return f"{', '.join(found[:-1])} and {found[-1]}" if len(found) > 1 else "".join(found)


def without_repetition(hints: Iterable[str]) -> Iterator[str]:
    """The hints, each once."""
    return iter(dict.fromkeys(hints))


def cut(text: str, longest: int) -> str:
    """The text, of which `...` replaces what is too long."""
    return text if len(text) <= longest else f"{text[:longest]}..."
