"""Descriptors inside reference objects: part of the target's key, `$.programReference.programTypeDescriptor`.

They are not references of the document that contains them (the target refers to the descriptor), but their values
compare case-insensitively like all descriptors.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from edfi_api.model.surface.resource import AbstractResource, DescriptorPath, JsonPath, Resource, ResourceName


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
