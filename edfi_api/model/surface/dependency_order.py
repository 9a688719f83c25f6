"""The order in which clients load resources, as Ed-Fi defines it. See
meadowlark/docs/reference/contract.md#dependency-order.

It differs from the order of references (`load_order`): access to people is authorized through associations, so
resources that refer to a person come after these associations, and most clients can update people only after them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from edfi_api.model.surface.load_order import Targets, batches, targets_of, without_circles
from edfi_api.model.surface.resource import ResourceKind, ResourceName, Surface


@dataclass(frozen=True, slots=True)
class PersonType:
    """A type of person: the associations through which it is authorized, and those that precede its update."""

    name: str
    associations: frozenset[str]
    precede_update: frozenset[str]


def _person(name: str, associations: Iterable[str], others_before_update: Iterable[str] = ()) -> PersonType:
    return PersonType(name, frozenset(associations), frozenset({*associations, *others_before_update}))


# Ed-Fi's servers fix these names; before data standard 5, Contact was called Parent.
PERSON_TYPES = (
    _person("Student", ["StudentSchoolAssociation"]),
    _person(
        "Staff",
        ["StaffEducationOrganizationEmploymentAssociation", "StaffEducationOrganizationAssignmentAssociation"],
    ),
    _person("Contact", ["StudentContactAssociation"], ["StudentSchoolAssociation"]),
    _person("Parent", ["StudentParentAssociation"], ["StudentSchoolAssociation"]),
)


@dataclass(frozen=True, slots=True)
class LoadStep:
    """A resource, the number of its group, and the operations that are possible in that group."""

    resource: str
    order: int
    operations: tuple[str, ...]


def load_steps(surface: Surface) -> list[LoadStep]:
    """All steps in order, alphabetical within a group."""
    return sorted(Dependencies(surface).load_steps(), key=lambda step: (step.order, step.resource))


class Dependencies:
    """The dependency graph of a surface, without school years, which precede everything."""

    def __init__(self, surface: Surface) -> None:
        self._resources = {r.name: r for r in surface.resources if r.kind is not ResourceKind.SCHOOL_YEAR}
        self._core = surface.core_project.name
        self._abstract = surface.abstract_resources

    def load_steps(self) -> Iterator[LoadStep]:
        groups = batches(self._resources, self.targets)
        orders = {resource.name: order for order, group in enumerate(groups, start=1) for resource in group}
        for name, order in orders.items():
            yield LoadStep(self.path(name), order, self._operations(name))
        for name, associations in self.updated_later.items():
            yield LoadStep(self.path(name), max(orders[each] for each in associations) + 1, ("Update",))

    def _operations(self, name: ResourceName) -> tuple[str, ...]:
        if self._resources[name].is_read_only:
            return ()
        return ("Create",) if name in self.updated_later else ("Create", "Update")

    @cached_property
    def targets(self) -> Targets:
        """Return for each resource the others that it depends on, without cycles."""
        required, all_targets = (
            self._with_people_behind_associations(targets_of(self._resources, self._abstract, only_required=only))
            for only in (True, False)
        )
        return without_circles(all_targets, required)

    @cached_property
    def updated_later(self) -> Mapping[ResourceName, frozenset[ResourceName]]:
        """The people of this surface and the associations that precede their update."""
        found = {self._name(person.name): self._present(person.precede_update) for person in PERSON_TYPES}
        return {name: associations for name, associations in found.items() if name in self._resources and associations}

    def _with_people_behind_associations(self, targets: Targets) -> Targets:
        for person in PERSON_TYPES:
            associations = self._present(person.associations)
            if associations:
                targets = _rewired(targets, self._name(person.name), associations)
        return targets

    def _present(self, names: Iterable[str]) -> frozenset[ResourceName]:
        return frozenset(name for name in map(self._name, names) if name in self._resources)

    def _name(self, resource: str) -> ResourceName:
        return ResourceName(self._core, resource)

    def path(self, name: ResourceName) -> str:
        return self._resources[name].served_path


def _rewired(targets: Targets, person: ResourceName, associations: frozenset[ResourceName]) -> Targets:
    """Replaces dependencies on the person by dependencies on the associations, except those of the associations."""
    return {
        name: (found - {person}) | associations if person in found and name not in associations else found
        for name, found in targets.items()
    }
