"""The paths in a body that refer to other documents: references, school years, descriptors.

A reference maps each of its values to the path in the target, so that the target's natural key can be built from the
reference alone. Descriptors inside a reference object are part of the target's key; the target refers to them, not the
document, but their values compare case-insensitively like all descriptors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from edfi_api.model.metaed.model import Entity, PropertyType
from edfi_api.model.surface.declarations import Declarations
from edfi_api.model.surface.json_schema import JsonSchema
from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.path_table import PathTable, Terminal
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    AbstractResource,
    DescriptorPath,
    JsonPath,
    KeyPair,
    ReferencePath,
    Resource,
    ResourceName,
)

SCHOOL_YEAR_IDENTITY = JsonPath(("schoolYear",))

P = TypeVar("P", ReferencePath, DescriptorPath)


@dataclass(frozen=True, slots=True)
class ReferenceReader:
    """Derives references from path tables; `table_of` returns the table of a target's own document."""

    declarations: Declarations
    table_of: Callable[[Entity], PathTable]

    def references(self, terminals: Iterable[Terminal], schema: JsonSchema) -> Iterator[ReferencePath]:
        """References to documents and to school years, in order of the terminals."""
        for terminal in terminals:
            if terminal.prop.type.is_reference or terminal.prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION:
                yield ReferencePath(
                    path=terminal.path,
                    target=self.declarations.resource_name(self._target(terminal)),
                    identity=self._identity(terminal),
                    is_required=is_required(terminal.path, schema),
                    is_identity=terminal.is_identity,
                )

    def descriptors(self, terminals: Iterable[Terminal], schema: JsonSchema) -> Iterator[DescriptorPath]:
        """The descriptors of the body itself; those inside reference objects belong to the target."""
        for terminal in terminals:
            if terminal.prop.type is PropertyType.DESCRIPTOR:
                yield DescriptorPath(
                    path=terminal.path,
                    target=self.declarations.resource_name(self._target(terminal)),
                    is_required=is_required(terminal.path, schema),
                    is_identity=terminal.is_identity,
                )

    def _target(self, terminal: Terminal) -> Entity:
        return self.declarations.model.target(terminal.prop)

    def _identity(self, terminal: Terminal) -> tuple[KeyPair, ...]:
        if terminal.prop.type is PropertyType.SCHOOL_YEAR_ENUMERATION:
            return (KeyPair(here=terminal.path / "schoolYear", there=SCHOOL_YEAR_IDENTITY),)
        target_table = self.table_of(self._target(terminal))
        pairs = {
            KeyPair(here=value.path, there=there.path)
            for value in terminal.values
            if value.leaf is not None
            for there in target_table.values_at(value.leaf.path)
        }
        return tuple(sorted(pairs, key=lambda pair: (str(pair.there), str(pair.here))))


def extensions_last(paths: Iterable[P]) -> tuple[P, ...]:
    """The paths of the document's own members in their order, then those of each extension."""
    return tuple(sorted(paths, key=lambda place: extension_of(place.path) or ""))


def extension_of(path: JsonPath) -> str | None:
    """The key below `_ext` of the project that added what is at this path; None for the document's own members."""
    steps = path.steps
    return steps[steps.index(EXTENSIONS) + 1] if EXTENSIONS in steps[:-1] else None


def is_required(path: JsonPath, schema: JsonSchema) -> bool:
    """Return whether every valid document has a value at this path."""
    for step in path.steps:
        if step == ALL_ITEMS:
            if schema["minItems"] == 0:
                return False
            schema = schema["items"]
        else:
            if step not in schema.get("required", ()):
                return False
            schema = schema["properties"][step]
    return True


def with_key_descriptors(
    resources: Iterable[Resource], abstract_resources: Iterable[AbstractResource]
) -> tuple[Resource, ...]:
    """The resources with their `key_descriptors`, which depend on the targets and so on all resources together."""
    by_name = {resource.name: resource for resource in resources}
    # All subclasses have their superclass's key descriptors, so any of them can represent it.
    by_name |= {
        abstract.name: by_name[abstract.subclasses[0]] for abstract in abstract_resources if abstract.subclasses
    }
    return tuple(replace(resource, key_descriptors=tuple(_found(resource, by_name))) for resource in resources)


def _found(resource: Resource, by_name: dict[ResourceName, Resource]) -> Iterator[DescriptorPath]:
    for reference in resource.references:
        paths = {pair.here: pair.there for pair in reference.identity}
        for here, there in paths.items():
            if target := _descriptor_at(there, by_name.get(reference.target), by_name):
                yield DescriptorPath(here, target, reference.is_required, reference.is_identity)


def _descriptor_at(
    path: JsonPath, resource: Resource | None, by_name: dict[ResourceName, Resource]
) -> ResourceName | None:
    if resource is None:
        return None
    for descriptor in resource.descriptors:
        if descriptor.path == path:
            return descriptor.target
    for reference in resource.references:
        for pair in reference.identity:
            if pair.here == path:
                return _descriptor_at(pair.there, by_name.get(reference.target), by_name)
    return None
