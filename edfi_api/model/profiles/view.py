"""What a part of a profile leaves of a body: a tree of names, made once from a checked definition."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from edfi_api.model.profiles.definition import FilterMode
from references.descriptor_uri import comparable


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """The items of a collection that are visible. `values` of descriptors are in the form that is compared."""

    member: str
    values: frozenset[str]
    mode: FilterMode
    is_descriptor: bool

    def shows(self, value: object) -> bool:
        """Whether an item with this value, None without one, is visible."""
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
        """Whether anything of the member is visible."""
        return member in self.whole or member in self.narrowed


@dataclass(frozen=True, slots=True)
class CollectionView:
    """The visible items of a collection, and what is visible of each; None is all of it."""

    items: ObjectView | None
    filter: ItemFilter | None = None
