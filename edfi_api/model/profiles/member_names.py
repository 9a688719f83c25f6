"""Finds the member that a definition names, also in the spelling of the Ed-Fi ODS.

The ODS names members by its classes: `StudentAddresses` for `addresses`, `StudentUSI` for `studentUniqueId`,
`SexDescriptorId` for `sexDescriptor`.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from edfi_api.model.surface.inflection import plural
from edfi_api.model.surface.naming import is_descriptor_name


@dataclass(frozen=True, slots=True)
class Enclosing:
    """Where a name stands: in the body of a resource, or in a member of that name."""

    resource: str
    member: str = ""


def member_named(name: str, members: Collection[str], enclosing: Enclosing) -> str | None:
    """The JSON name of the member; None if no spelling fits."""
    if name in members:
        return name
    for variant in _variants(name):
        lowered = variant[:1].lower() + variant[1:]
        if lowered in members:
            return lowered
    without_prefix = [
        member for variant in _variants(name) for member in members if _has_type_in_front(variant, member, enclosing)
    ]
    return max(without_prefix, key=len, default=None)


def key_named(name: str, keys: Collection[str]) -> str | None:
    """The key below `_ext` that has this name in any case; None if there is none."""
    return next((key for key in keys if key.lower() == name.lower()), None)


def _variants(name: str) -> Iterator[str]:
    yield name
    if name.endswith("USI"):
        yield name.removesuffix("USI") + "UniqueId"
    if name.endswith("DescriptorId"):
        yield name.removesuffix("Id")
    elif not is_descriptor_name(name):
        yield name + "Descriptor"


def _has_type_in_front(name: str, member: str, enclosing: Enclosing) -> bool:
    last = member[:1].upper() + member[1:]
    if not name.endswith(last):
        return False
    prefix = name.removesuffix(last)
    return prefix.startswith(enclosing.resource) or plural(prefix.lower()) == enclosing.member.lower() != ""
