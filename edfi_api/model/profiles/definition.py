"""The definition of a profile as frozen values, equal for XML and JSON, and what is found wrong in one. Lines are
those of the file, 0 without one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

# It stands in a media type: application/vnd.ed-fi.{resource}.{profile}.{usage}+json.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
LONGEST_NAME = 500
MOST_BYTES = 10 * 2**20
# Written by the server, outside of every profile.
SERVER_MEMBERS = frozenset({"id", "link", "_etag", "_lastModifiedDate"})


def is_profile_name(name: str) -> bool:
    """Return whether a profile can have this name."""
    return len(name) <= LONGEST_NAME and _NAME.fullmatch(name) is not None


class FindingSeverity(StrEnum):
    """An error refuses the profile; warnings and notices are only reported."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One finding. `line` is that of the file, 0 if unknown; `profile` is its name, empty if it has none.

    `is_unknown_member` and `is_idle_rule` mark warnings that `load_profiles` takes as errors.
    """

    line: int
    severity: FindingSeverity
    text: str
    profile: str = ""
    is_unknown_member: bool = False
    is_idle_rule: bool = False

    @property
    def hides_less(self) -> bool:
        """Whether what an ExcludeOnly names is shown, although its author may have meant to hide it."""
        return self.is_unknown_member or self.is_idle_rule


class UnreadableDefinition(Exception):
    """A file is no definition of profiles: not well formed, too large, or of another structure."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__("; ".join(finding.text for finding in findings))
        self.findings = findings


class MemberSelection(StrEnum):
    """The selection of a rule for the members that it does not name."""

    INCLUDE_ONLY = "IncludeOnly"
    EXCLUDE_ONLY = "ExcludeOnly"
    INCLUDE_ALL = "IncludeAll"


class FilterMode(StrEnum):
    """The mode of a filter: the items with one of its values are visible, or hidden."""

    INCLUDE_ONLY = "IncludeOnly"
    EXCLUDE_ONLY = "ExcludeOnly"


class Usage(StrEnum):
    """The usage to which a part of a profile applies: `readable` to GET, `writable` to POST and PUT."""

    READABLE = "readable"
    WRITABLE = "writable"


class ElementKind(StrEnum):
    """The kind of a rule element, as it is called in messages and in XML."""

    OBJECT = "Object"
    COLLECTION = "Collection"
    EXTENSION = "Extension"


@dataclass(frozen=True, slots=True)
class NamedMember:
    """A member that a rule names as a whole: `<Property name="x"/>`."""

    name: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FilterDefinition:
    """The rule which items of a collection are visible, by the value of one of their members."""

    property_name: str
    mode: FilterMode
    values: tuple[str, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ProfileRule:
    """The members of an object that are visible: the body of a resource, or a member that `element` names."""

    selection: MemberSelection
    properties: tuple[NamedMember, ...] = ()
    elements: tuple["RuleElement", ...] = ()
    line: int = field(default=0, compare=False)

    def elements_of(self, kind: ElementKind) -> Iterator["RuleElement"]:
        """The rule elements of this kind, in their order."""
        return (element for element in self.elements if element.kind is kind)


@dataclass(frozen=True, slots=True)
class RuleElement:
    """A member with a rule of its own about what lies below it; only collections have a filter."""

    kind: ElementKind
    name: str
    rule: ProfileRule
    filter: FilterDefinition | None = None

    @property
    def line(self) -> int:
        return self.rule.line


@dataclass(frozen=True, slots=True)
class ResourceParts:
    """The parts of a profile for one resource; `logical_schema` is the project's name, if it is given."""

    name: str
    logical_schema: str | None = None
    read: ProfileRule | None = None
    write: ProfileRule | None = None
    line: int = field(default=0, compare=False)

    def part(self, usage: Usage) -> ProfileRule | None:
        """The part for this usage, if there is one."""
        return self.read if usage is Usage.READABLE else self.write


@dataclass(frozen=True, slots=True)
class ProfileDefinition:
    """A profile: its name as spelt, and its resources in the order of the file."""

    name: str
    resources: tuple[ResourceParts, ...]
    line: int = field(default=0, compare=False)
