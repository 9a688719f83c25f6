"""What a part of a profile leaves of a body: a tree of names, made once from a checked definition."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from edfi_api.model.profiles.definition import FilterMode
from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource
from references.descriptor_uri import comparable


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """The items of a collection that are visible. `values` of descriptors are in the form that is compared."""

    member: str
    values: frozenset[str]
    mode: FilterMode
    is_descriptor: bool

    def shows(self, value: object) -> bool:
        """Return whether an item with this value, None without one, is visible."""
        text = comparable(value) if self.is_descriptor and isinstance(value, str) else value
        return (text in self.values) == (self.mode is FilterMode.INCLUDE_ONLY)


@dataclass(frozen=True, slots=True)
class ObjectView:
    """The visible members of an object; those in no field are hidden.

    `whole` are visible with everything below them, and `whole_extensions` are such keys of `_ext`; the others are
    narrowed by a view of their own.
    """

    whole: frozenset[str]
    narrowed: Mapping[str, "ObjectView | CollectionView"] = field(default_factory=dict)
    whole_extensions: frozenset[str] = frozenset()
    narrowed_extensions: Mapping[str, "ObjectView"] = field(default_factory=dict)

    def shows(self, member: str) -> bool:
        """Return whether anything of the member is visible."""
        return member in self.whole or member in self.narrowed


@dataclass(frozen=True, slots=True)
class CollectionView:
    """The visible items of a collection, and what is visible of each; None is all of it."""

    items: ObjectView | None
    filter: ItemFilter | None = None


class MemberKind(StrEnum):
    """The kind of a member, as messages call it."""

    SCALAR = "value"
    REFERENCE = "reference"
    OBJECT = "object"
    COLLECTION = "collection"


@dataclass(frozen=True, slots=True)
class Members:
    """The members of an object by their JSON names, and those that projects add below `_ext`, by its keys.

    `required` are the names that the object's schema requires; `other_names` are those of the ODS/API for names of
    members.
    """

    by_name: Mapping[str, "ProfileMember"]
    extensions: Mapping[str, "Members"] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    other_names: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_names(self) -> tuple[str, ...]:
        """The names by which members can be named."""
        return (*self.by_name, *self.other_names)


@dataclass(frozen=True, slots=True)
class ProfileMember:
    """One member. `members` are those of an object or of a collection's items.

    `item_key` are the names of the items' members that identify an item among the others. `is_text` says that the value
    is a string, `is_descriptor` that it is a descriptor's URI.
    """

    kind: MemberKind
    members: Members | None = None
    item_key: tuple[JsonPath, ...] = ()
    is_text: bool = False
    is_descriptor: bool = False


@dataclass(frozen=True, slots=True)
class ResourceMembers:
    """The members of a resource's body; `identity` are the root members on the way to an identity value."""

    root: Members
    identity: frozenset[str]


def members_of(resource: Resource) -> ResourceMembers:
    """The members of the resource, from its schema, references and item keys."""
    root = _Builder(resource).members(resource.json_schema, ())
    return ResourceMembers(root, frozenset(path.steps[0] for path in resource.identity))


class _Builder:
    def __init__(self, resource: Resource) -> None:
        self._references = {reference.path.steps for reference in resource.references}
        self._descriptors = {descriptor.path.steps for descriptor in resource.descriptors}
        self._item_keys = {rule.array.steps: rule.item_paths for rule in resource.array_uniqueness}
        self._other_names = {other.path.steps: other.name for other in resource.ods_names}

    def members(self, schema: Mapping[str, Any], steps: tuple[str, ...]) -> Members:
        properties = schema.get("properties", {})
        extensions = properties.get(EXTENSIONS, {}).get("properties", {})
        return Members(
            {name: self._member(each, (*steps, name)) for name, each in properties.items() if name != EXTENSIONS},
            {key: self.members(each, (*steps, EXTENSIONS, key)) for key, each in extensions.items()},
            frozenset(schema.get("required", ())),
            {other: name for name in properties if (other := self._other_names.get((*steps, name)))},
        )

    def _member(self, schema: Mapping[str, Any], steps: tuple[str, ...]) -> ProfileMember:
        if steps in self._references:
            return ProfileMember(MemberKind.REFERENCE)
        match schema.get("type"):
            case "object":
                return ProfileMember(MemberKind.OBJECT, self.members(schema, steps))
            case "array":
                items = self.members(schema["items"], (*steps, ALL_ITEMS))
                return ProfileMember(MemberKind.COLLECTION, items, self._item_keys.get(steps, ()))
            case "string":
                return ProfileMember(MemberKind.SCALAR, is_text=True, is_descriptor=steps in self._descriptors)
            case _:
                return ProfileMember(MemberKind.SCALAR)


def names_in_order(names: Iterable[str]) -> str:
    """Names for a message: `'city', 'nameOfCounty'`."""
    return ", ".join(f"'{name}'" for name in names)


def hidden_required_members(view: ObjectView | None, members: Members, always: frozenset[str]) -> list[str]:
    """The hidden members that an object of this view needs, in order of name; `always` are never hidden."""
    if view is None:
        return []
    return sorted(name for name in members.required - always if not view.shows(name))
