"""Where the values of a body are defined: those of a reference in the key of its target, in turn.

`$.sectionReference.schoolId` of an attendance event originates in `$.schoolId` of a school. Values of one origin are
equal in all documents that refer to the same ones, however many references lead there.
"""

from collections import Counter
from functools import cached_property
from typing import NamedTuple

from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName, Surface


class MemberOrigin(NamedTuple):
    """A member of a resource or of an abstract resource."""

    resource: ResourceName
    path: JsonPath


class Origins:
    """The origins of one surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    def of(self, resource: Resource, path: JsonPath) -> MemberOrigin:
        """The origin of the value at this path, which is itself unless it is in a reference."""
        for reference in resource.references:
            for pair in reference.identity:
                if pair.here == path:
                    return self._in_target(reference.target, pair.there)
        return MemberOrigin(resource.name, path)

    def _in_target(self, target: ResourceName, path: JsonPath) -> MemberOrigin:
        if target in self._surface.by_name:
            return self.of(self._surface.by_name[target], path)
        representative = self.representatives[target]
        here = _path_in_subclass(representative, path)
        # A renamed member (schoolId for educationOrganizationId) is another one in each subclass.
        return self.of(representative, path) if here == path else MemberOrigin(target, path)

    @cached_property
    def representatives(self) -> dict[ResourceName, Resource]:
        """For each abstract resource, the subclass to which most references lead."""
        referrers = Counter(
            reference.target for resource in self._surface.resources for reference in resource.references
        )
        return {
            abstract.name: self._surface.by_name[max(abstract.subclasses, key=lambda name: referrers[name])]
            for abstract in self._surface.abstract_resources
            if abstract.subclasses
        }

    def of_identity(self, resource: Resource) -> list[tuple[MemberOrigin, JsonPath]]:
        """The origins that a document of the resource defines for those that refer to it, with the paths of the values
        in it; among them the renamed members of its superclass."""
        found = [(self.of(resource, path), path) for path in resource.identity]
        if resource.superclass is not None:
            renamed = (pair for pair in resource.superclass.identity if pair.here != pair.there)
            found += [(MemberOrigin(resource.superclass.name, pair.there), pair.here) for pair in renamed]
        return found


def _path_in_subclass(subclass: Resource, path: JsonPath) -> JsonPath:
    pairs = subclass.superclass.identity if subclass.superclass else ()
    return next((pair.here for pair in pairs if pair.there == path), path)
