"""An example of each resource. Examples refer only to each other, so that a server accepts them in loading order."""

from collections.abc import Iterator
from typing import Any

from edfi_api.model.examples.completion import Bodies, Body, Scope
from edfi_api.model.examples.origins import MemberOrigin
from edfi_api.model.examples.values import numbered
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName


class Examples:
    """The examples of one surface: what is required, nothing else."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._scope = _superclass_keys(bodies)

    def of(self, resource: Resource) -> Body:
        """The body of a POST. Of a descriptor it is a value that exists, if the standard comes with values."""
        if resource.is_descriptor:
            return self._bodies.descriptor_value(resource.name).body
        return self._bodies.complete(resource, {}, self._scope)

    def targets(self) -> Iterator[tuple[Resource, Body]]:
        """The examples that others refer to, in loading order, except descriptors for which values are bundled."""
        surface = self._bodies.surface
        targets = {reference.target for resource in surface.resources for reference in resource.references}
        targets |= {descriptor.target for resource in surface.resources for descriptor in resource.descriptors}
        referenced = {self._concrete(target) for target in targets}
        for resource in surface.resources:
            if resource.name in referenced and not self._bodies.has_values(resource.name):
                yield resource, self.of(resource)

    def _concrete(self, target: ResourceName) -> ResourceName:
        representative = self._bodies.origins.representatives.get(target)
        return representative.name if representative else target


def _superclass_keys(bodies: Bodies) -> Scope:
    """Different values for the subclasses of one superclass, which share its identity: of an organization its id
    (schoolId), of another subclass its own members of the identity. A renamed member of the representative stands for
    the one of the superclass, too."""
    found: dict[MemberOrigin, Any] = {}
    for abstract in bodies.surface.abstract_resources:
        representative = bodies.origins.representatives[abstract.name]
        for number, name in enumerate(abstract.subclasses, start=1):
            resource = bodies.surface.by_name[name]
            for here, there in _own_members(bodies, resource):
                value = numbered(resource.json_schema["properties"][here.steps[0]], number)
                found[MemberOrigin(name, here)] = value
                if resource is representative and here != there:
                    found[MemberOrigin(abstract.name, there)] = value
    return found


def _own_members(bodies: Bodies, subclass: Resource) -> Iterator[tuple[JsonPath, JsonPath]]:
    """Of the identity that it has as its superclass; neither references nor descriptors."""
    descriptors = {descriptor.path for descriptor in subclass.descriptors}
    for pair in subclass.superclass.identity if subclass.superclass else ():
        is_own = bodies.origins.of(subclass, pair.here) == MemberOrigin(subclass.name, pair.here)
        if is_own and pair.here not in descriptors:
            yield pair.here, pair.there
