"""Templates: which column of a table, or which constant, is which member of a resource. They are JSON, to be kept,
exported and given away:

    {"version": 1, "resource": "/ed-fi/students", "columns": [
        {"member": "studentUniqueId", "column": "Student ID"},
        {"member": "birthSexDescriptor", "column": "Sex", "values": {"m": "Male"}, "default": "Not Selected"},
        {"member": "addresses[0].city", "value": "Bluebonnet"}]}
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from edfi_api.features.tables.exceptions import InvalidTemplate
from edfi_api.model.surface.resource import Resource, Surface

VERSION = 1
MOST_MEMBERS = 500
_LONGEST = 1_000


Part = Literal["", "before-comma", "after-comma", "first-word", "after-first-word"]
DateOrder = Literal["", "day-first", "month-first"]


class MappedMember(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A member, by its path, and where its value comes from: a column, by its name, or a constant `value`. `part` says
    which part of a cell counts, `dates` whether the day or the month of 8/9/2026 is first, which the column says itself
    otherwise. `values` says what the texts of cells mean, and `default` is for blank cells."""

    member: str
    column: str = ""
    value: str = ""
    default: str = ""
    part: Part = ""
    dates: DateOrder = ""
    values: dict[str, str] = msgspec.field(default_factory=dict)


class Template(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The members of documents of one resource, which is named by its path."""

    resource: str
    columns: tuple[MappedMember, ...] = ()
    name: str = ""
    version: int = VERSION

    def of(self, surface: Surface) -> Resource:
        """The resource. Raises InvalidTemplate."""
        found = surface.resource_at(self.resource.strip("/")) if "/" in self.resource.strip("/") else None
        if found is None:
            raise InvalidTemplate([f"The API offers no {self.resource or 'resource without a name'}."])
        return found

    def as_json(self) -> dict[str, Any]:
        """The JSON object, with its version."""
        members: dict[str, Any] = msgspec.to_builtins(self)
        return {"version": self.version, **members}


def read_template(text: bytes | str) -> Template:
    """The template of a JSON text in our own form. Raises InvalidTemplate."""
    try:
        return checked(msgspec.json.decode(text, type=Template))
    except msgspec.ValidationError as error:
        raise InvalidTemplate([f"This is not a template: {error}."]) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidTemplate(["This is not JSON."]) from error


def template_of(members: Mapping[str, Any]) -> Template:
    """The template of a decoded JSON object. Raises InvalidTemplate."""
    try:
        return checked(msgspec.convert(members, Template))
    except msgspec.ValidationError as error:
        raise InvalidTemplate([f"This is not a template: {error}."]) from error


def checked(template: Template) -> Template:
    """The template if it is within the bounds. Raises InvalidTemplate."""
    if template.version != VERSION:
        raise InvalidTemplate([f"The template has version {template.version}; this server reads {VERSION}."])
    if len(template.columns) > MOST_MEMBERS:
        raise InvalidTemplate([f"A template has {MOST_MEMBERS} members at most."])
    for each in template.columns:
        texts: Sequence[str] = (each.member, each.column, each.value, each.default, *each.values, *each.values.values())
        if any(len(text) > _LONGEST or "\0" in text for text in texts):
            raise InvalidTemplate([f"A text of the template is longer than {_LONGEST} characters, or has a NUL."])
        if each.column and each.value:
            raise InvalidTemplate([f"{each.member} has a column and a constant; it can have one of them."])
    return template


_PAIR = re.compile(r"\s*(.+?)\s*=\s*(.+?)\s*")


def values_text(values: Mapping[str, str]) -> str:
    """A table of values as lines, `9 = Ninth grade`, as people edit it."""
    return "\n".join(f"{key} = {value}" for key, value in values.items())


def read_values(text: str) -> dict[str, str]:
    """The table of values in such lines. Raises InvalidTemplate for a line of another form."""
    found = {}
    for line in filter(str.strip, text.splitlines()):
        pair = _PAIR.fullmatch(line)
        if pair is None:
            raise InvalidTemplate([f"{line.strip()!r} is not of the form: what the cell has = what it means."])
        found[pair[1]] = pair[2]
    return found
