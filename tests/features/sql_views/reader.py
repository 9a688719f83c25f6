"""Bodies, as the API returns them → objects with their values, to be found in rows of views.

It shares nothing with the generator. A body is taken apart into objects: the document, commons, array items, and what
an extension adds to one of them. The views of a resource are right if the rows of each are objects of one place in the
body, all of them, with every value of the object in a column whose name ends as the member's does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

_MONEY = re.compile(r"\$[\d,]+\.\d\d")
_SERVER_MEMBERS = ("id", "_etag", "_lastModifiedDate", "link")


@dataclass
class Object:
    """An object of a body: its values by member, and the object around it."""

    place: str
    values: list[tuple[str, Any]] = field(default_factory=list)
    around: Object | None = None

    def with_enclosing(self) -> Iterator[tuple[str, Any]]:
        yield from self.values
        if self.around is not None:
            yield from self.around.with_enclosing()


def objects(body: Mapping[str, Any]) -> dict[str, list[Object]]:
    """The objects of a body by their place: `$`, `$.addresses[*]`, `$._ext.sample`."""
    found: dict[str, list[Object]] = defaultdict(list)
    _take_apart(body, Object("$"), found)
    return found


def _take_apart(value: Mapping[str, Any], object_: Object, found: dict[str, list[Object]]) -> None:
    found[object_.place].append(object_)
    for name, member in value.items():
        if name in _SERVER_MEMBERS:
            continue
        if isinstance(member, list):
            for item in member:
                _take_apart(item, Object(f"{object_.place}.{name}[*]", around=object_), found)
        elif isinstance(member, dict) and name == "_ext":
            for project, added in member.items():
                _take_apart(added, Object(f"{object_.place}._ext.{project}", around=object_), found)
        elif isinstance(member, dict) and name.endswith("Reference"):
            object_.values += [(inner, v) for inner, v in member.items() if inner not in _SERVER_MEMBERS]
        elif isinstance(member, dict):
            _take_apart(member, Object(f"{object_.place}.{name}", around=object_), found)
        else:
            object_.values.append((name, member))


@dataclass(frozen=True)
class Stored:
    """What numbers in rows stand for: the URIs of descriptors and the unique ids of people, by row."""

    uris: Mapping[int, str]
    unique_ids: Mapping[int, str]

    def value(self, column: str, shown: Any) -> Any:
        """The value of a column as JSON has it."""
        if column.endswith("descriptorid"):
            return self.uris[shown]
        if column.endswith("usi"):
            return self.unique_ids[shown]
        return _plain(shown)


def _plain(shown: Any) -> Any:
    """Numbers as decimals without trailing zeros, dates and times in their JSON form."""
    match shown:
        case bool():
            return shown
        case datetime():
            return f"{shown.isoformat(timespec='seconds')}Z"
        case date() | time():
            return shown.isoformat()
        case int() | float() | Decimal():
            return Decimal(str(shown)).normalize()
        case UUID():
            return str(shown)
    is_money = isinstance(shown, str) and _MONEY.fullmatch(shown)
    return Decimal(shown[1:].replace(",", "")).normalize() if is_money else shown


def is_shown(name: str, value: Any, row: Mapping[str, Any]) -> bool:
    """Whether a row, with its values as JSON has them, shows the value of a member."""
    wanted = _plain(value)
    return any(shown == wanted and type(shown) is type(wanted) and alike(column, name) for column, shown in row.items())


def alike(column: str, member: str) -> bool:
    """Whether the names of a column and of a member end alike, except for the databases' own endings. An organization
    has its id under the name of its type, and of organizations in general."""
    wanted = member.lower()
    if wanted.endswith("descriptor"):
        wanted += "id"
    if column.endswith("usi"):
        wanted = wanted.replace("uniqueid", "usi")
    common = 0
    while common < min(len(column), len(wanted)) and column[-common - 1] == wanted[-common - 1]:
        common += 1
    return common >= 2 and (common > min(len(column), len(wanted)) / 2 or _are_ids(column, wanted))


def _are_ids(column: str, member: str) -> bool:
    return all(name.endswith(("id", "code")) and not name.endswith("descriptorid") for name in (column, member))
