"""A mapping file as values, and where in the file each of them is.

The form is described in meadowlark/docs/operate/mappings.md.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from edfi_api.common.shape_errors import names_of, reason_and_path

_HEADER = re.compile(r"\s*\[{1,2}\s*(.+?)\s*\]{1,2}\s*(?:#.*)?$")
_QUOTED_OR_BARE = re.compile(r'"([^"]*)"|([^.\s]+)')

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in a file; `line` and `key` say where, as far as it is known."""

    file: str
    line: int | None
    key: str
    reason: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (place, self.key, self.reason) if part)


@dataclass
class InvalidMapping(Exception):
    """A file that cannot be used, with everything that is wrong with it."""

    faults: Sequence[Fault]


@dataclass
class UnknownMapping(Exception):
    """The name is that of neither a bundled mapping, nor a chain of them, nor a file; `bundled` are the names that
    there are.
    """

    named: str
    bundled: Sequence[str]


@dataclass
class LeadsElsewhere(Exception):
    """The mapping leads to another standard than the one that is served."""

    to: str
    served: str


class Making(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A further document that each document gives, or each item of the array `each` of it."""

    to: str
    members: dict[str, str]
    each: str | None = None
    given: dict[str, Value] = {}


class ResourceRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules for the documents of a resource; members are paths such as `addresses[*].city`."""

    to: str | None = None
    lost: str | None = None
    members: dict[str, str] = {}
    lost_members: dict[str, str] = {}
    given: dict[str, Value] = {}
    makes: list[Making] = []


class MappingFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a file. Resources are named by their endpoints."""

    from_: str = msgspec.field(name="from")
    to: str
    resources: dict[str, ResourceRules] = {}
    namespaces: dict[str, str] = {}
    values: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class MappedSource:
    """The text of a file, in which places are found by the names of tables and keys."""

    name: str
    text: str

    def fault(self, reason: str, *keys: str) -> Fault:
        """Return a fault about this key: `resources`, `courses`, `members`, `academicSubjectDescriptor`."""
        return Fault(self.name, self._line(keys), ".".join(map(_quoted, keys)), reason)

    def _line(self, keys: tuple[str, ...]) -> int | None:
        """Return the first line of the longest part of the keys that the file has in this form."""
        found, longest = None, 0
        for number, path in self._paths():
            if len(path) > longest and path == keys[: len(path)]:
                found, longest = number, len(path)
        return found

    def _paths(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the numbers of the lines that begin a table or have a key, with all names down to it."""
        table: tuple[str, ...] = ()
        for number, line in enumerate(self.text.splitlines(), start=1):
            if header := _HEADER.match(line):
                table = _names(header[1])
                yield number, table
            elif "=" in line and not line.lstrip().startswith("#"):
                yield number, table + _names(line.partition("=")[0])


def read(path: Path) -> tuple[MappingFile, MappedSource]:
    """Raises InvalidMapping, or OSError."""
    try:
        source = MappedSource(path.name, path.read_text(encoding="utf-8"))
        content = tomllib.loads(source.text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidMapping([Fault(path.name, None, "", f"not TOML: {error}")]) from error
    resources = content.get("resources")
    tables = resources.items() if isinstance(resources, dict) else ()
    faults = [fault for name, each in tables for fault in _faults(each, ResourceRules, source, "resources", name)]
    if faults := faults or _faults(content, MappingFile, source):
        raise InvalidMapping(faults)
    return msgspec.convert(content, MappingFile), source


def _faults(value: Any, shape: type[msgspec.Struct], source: MappedSource, *keys: str) -> list[Fault]:
    """The first fault of a value below these keys that does not have the shape."""
    try:
        msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        reason, path = reason_and_path(error)
        return [source.fault(reason, *keys, *names_of(path))]
    return []


def _names(text: str) -> tuple[str, ...]:
    return tuple(quoted or bare for quoted, bare in _QUOTED_OR_BARE.findall(text))


def _quoted(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key) else f'"{key}"'
