"""An example of each resource. Examples refer only to each other, so that a server accepts them in loading order."""

from collections.abc import Iterator

from edfi_api.model.examples.completion import Bodies, Body, Scope
from edfi_api.model.examples.origins import Origin
from edfi_api.model.surface.resource import Resource, ResourceName

# Each type of organization needs an id of its own: they share the identity of their superclass.
_FIRST_ORGANIZATION = 1001


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
        """Those examples that others refer to, in loading order; but for descriptors that the standard brings along."""
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
    """A number for each renamed member of a superclass's identity (schoolId), and for the superclass the one of its
    representative."""
    found: dict[Origin, int] = {}
    surface = bodies.surface
    for abstract in surface.abstract_resources:
        for number, name in enumerate(abstract.subclasses, start=_FIRST_ORGANIZATION):
            superclass = surface.by_name[name].superclass
            for pair in superclass.identity if superclass else ():
                if pair.here != pair.there:
                    found[Origin(name, pair.here)] = number
                    if name == bodies.origins.representatives[abstract.name].name:
                        found[Origin(abstract.name, pair.there)] = number
    return found
