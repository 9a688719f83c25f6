"""Determines whether the missing targets of a document may still be loaded, in load order or behind it.

Load order puts targets before referrers, except for references to the same resource (a parent objective) and, if
references between resources are circular, to later ones. Documents with such missing targets are deferred.
"""

from collections.abc import Sequence

from edfi_api.model.surface.resource import Resource
from edfi_api.storage.sets import Refusal
from edfi_api.storage.stored import Outcome
from references.exceptions import UnresolvedReference


class DeferredReferences:
    """The resources of which documents may still be loaded; `rank` is the position in load order."""

    def __init__(self, resources: Sequence[Resource]) -> None:
        self._resources = resources
        self._not_before = _names_not_before(resources)
        self._deferred: set[str] = set()

    def may_resolve_later(self, rank: int, result: Outcome | Refusal) -> bool:
        """Whether a document was refused only for targets whose resources follow or have deferred documents."""
        if not isinstance(result, UnresolvedReference):
            return False
        return missing_resources(result) <= self._not_before[rank] | self._deferred

    def defer(self, rank: int) -> None:
        """Record that a document of this resource is deferred."""
        self._deferred |= resource_names(self._resources[rank])


def _names_not_before(resources: Sequence[Resource]) -> list[set[str]]:
    """For each resource, the names of itself and all later ones."""
    following: set[str] = set()
    found = []
    for resource in reversed(resources):
        following = following | resource_names(resource)
        found.append(following)
    return found[::-1]


def missing_resources(refusal: UnresolvedReference) -> set[str]:
    """The names of the resources of the missing targets."""
    return {target.resource for target in (*refusal.documents, *refusal.descriptors)}


def resource_names(resource: Resource) -> set[str]:
    """The resource names under which its documents can be referenced."""
    return {resource.name.resource} | ({resource.superclass.name.resource} if resource.superclass else set())
