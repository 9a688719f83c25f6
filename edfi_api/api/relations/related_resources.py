"""The resources that can refer to, or be referenced by, each resource of a surface: where related documents can be."""

from collections.abc import Mapping
from enum import StrEnum

from edfi_api.model.surface.load_order import targets_of
from edfi_api.model.surface.resource import Resource, ResourceName, Surface


class Direction(StrEnum):
    """Whether to list the documents that refer to a document, or those that it refers to."""

    INCOMING = "incoming"
    OUTGOING = "outgoing"


class RelatedResources:
    """The related resources of each resource, including itself: a document may refer to another of its resource."""

    def __init__(self, surface: Surface) -> None:
        self._resources = surface.by_name
        outgoing = targets_of(surface.by_name, surface.abstract_resources, only_required=False)
        incoming: dict[ResourceName, set[ResourceName]] = {name: set() for name in outgoing}
        for name, targets in outgoing.items():
            for target in targets:
                incoming[target].add(name)
        self._names: Mapping[Direction, Mapping[ResourceName, set[ResourceName]]] = {
            Direction.INCOMING: incoming,
            Direction.OUTGOING: {name: set(targets) for name, targets in outgoing.items()},
        }

    def of(self, resource: Resource, direction: Direction) -> list[Resource]:
        """The related resources in a direction, in the order of their paths."""
        names = self._names[direction][resource.name] | {resource.name}
        return sorted((self._resources[name] for name in names), key=lambda each: each.url_path)
