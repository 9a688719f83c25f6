"""The orders in which documents can be loaded: that of references, and that of clients, as Ed-Fi defines it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from edfi_api.model.surface.resource import AbstractResource, Resource, ResourceKind, ResourceName, Surface

# Maps each resource to the others that must precede it.
Targets = Mapping[ResourceName, Set[ResourceName]]


def load_batches(
    resources: Iterable[Resource], abstract_resources: Iterable[AbstractResource]
) -> tuple[tuple[Resource, ...], ...]:
    """Groups of resources, each needing only earlier groups; alphabetical by URL path inside a group.

    Source: Ed-Fi's dependency metadata. A reference to an abstract resource, or to a superclass, needs all subclasses.
    Where references form a cycle, the optional ones in it are ignored.
    """
    by_name = {resource.name: resource for resource in resources}
    required, all_targets = (targets_of(by_name, abstract_resources, only_required=only) for only in (True, False))
    return batches(by_name, without_circles(all_targets, required))


def batches(resources: Mapping[ResourceName, Resource], targets: Targets) -> tuple[tuple[Resource, ...], ...]:
    """Groups of resources, each depending only on earlier groups; `targets` has no cycles."""
    waiting_for = dict(targets)
    found = []
    while waiting_for:
        ready = [name for name, others in waiting_for.items() if not others & waiting_for.keys()]
        found.append(tuple(sorted((resources[name] for name in ready), key=lambda resource: resource.url_path)))
        for name in ready:
            del waiting_for[name]
    return tuple(found)


def in_load_order(resources: Iterable[Resource], abstract: Iterable[AbstractResource]) -> tuple[Resource, ...]:
    """All resources, batch after batch."""
    return tuple(resource for batch in load_batches(resources, abstract) for resource in batch)


def targets_of(
    resources: Mapping[ResourceName, Resource],
    abstract_resources: Iterable[AbstractResource],
    *,
    only_required: bool,
) -> Targets:
    """The targets of each resource, including all subclasses of a superclass; there can be cycles."""
    subclasses = _subclasses(resources.values(), abstract_resources)
    return {
        name: {
            concrete
            for target in _targets(resource, only_required=only_required)
            for concrete in (target, *subclasses.get(target, ()))
            if concrete in resources and concrete != name
        }
        for name, resource in resources.items()
    }


def _subclasses(
    resources: Iterable[Resource], abstract_resources: Iterable[AbstractResource]
) -> Mapping[ResourceName, set[ResourceName]]:
    found = {abstract.name: set(abstract.subclasses) for abstract in abstract_resources}
    for resource in resources:
        if resource.superclass is not None:
            found.setdefault(resource.superclass.name, set()).add(resource.name)
    return found


def _targets(resource: Resource, *, only_required: bool) -> Iterator[ResourceName]:
    for reference in resource.references:
        if reference.is_required or not only_required:
            yield reference.target
    for descriptor in resource.descriptors:
        if descriptor.is_required or not only_required:
            yield descriptor.target


def without_circles(targets: Targets, required: Targets) -> Targets:
    """Remove first the optional edges inside each cycle, then the required ones if they still form a cycle: subclasses
    can require their superclass without a cycle among the documents."""
    for kept_inside in (required, {name: set[ResourceName]() for name in targets}):
        for circle in _circles(targets):
            for name in circle:
                targets = {**targets, name: (targets[name] - circle) | (targets[name] & circle & kept_inside[name])}
    return targets


def _circles(targets: Targets) -> Iterator[set[ResourceName]]:
    """The strongly connected groups of more than one resource."""
    reachable = {name: _reachable(name, targets) for name in targets}
    seen: set[ResourceName] = set()
    for name in targets:
        circle = {other for other in reachable[name] if name in reachable[other]}
        if name not in seen and len(circle) > 1:
            yield circle
        seen |= circle


def _reachable(start: ResourceName, targets: Targets) -> set[ResourceName]:
    found: set[ResourceName] = set()
    open_ends = [start]
    while open_ends:
        new = targets[open_ends.pop()] - found
        found |= new
        open_ends.extend(new)
    return found


# It differs from the order of references (`load_order`): access to people is authorized through associations, so
# resources that refer to a person come after these associations, and most clients can update people only after them.


@dataclass(frozen=True, slots=True)
class _PersonType:
    """A type of person: the associations through which it is authorized, and those that precede its update."""

    name: str
    associations: frozenset[str]
    precede_update: frozenset[str]


def _person(name: str, associations: Iterable[str], others_before_update: Iterable[str] = ()) -> _PersonType:
    return _PersonType(name, frozenset(associations), frozenset({*associations, *others_before_update}))


# Ed-Fi's servers fix these names; before data standard 5, Contact was called Parent.
_PERSON_TYPES = (
    _person("Student", ["StudentSchoolAssociation"]),
    _person(
        "Staff",
        ["StaffEducationOrganizationEmploymentAssociation", "StaffEducationOrganizationAssignmentAssociation"],
    ),
    _person("Contact", ["StudentContactAssociation"], ["StudentSchoolAssociation"]),
    _person("Parent", ["StudentParentAssociation"], ["StudentSchoolAssociation"]),
)


@dataclass(frozen=True, slots=True)
class _LoadStep:
    """A resource, the number of its group, and the operations that are possible in that group."""

    resource: str
    order: int
    operations: tuple[str, ...]


def load_steps(surface: Surface) -> list[_LoadStep]:
    """All steps in order, alphabetical within a group."""
    return sorted(Dependencies(surface).load_steps(), key=lambda step: (step.order, step.resource))


class Dependencies:
    """The dependency graph of a surface, without school years, which precede everything."""

    def __init__(self, surface: Surface) -> None:
        self._resources = {r.name: r for r in surface.resources if r.kind is not ResourceKind.SCHOOL_YEAR}
        self._core = surface.core_project.name
        self._abstract = surface.abstract_resources

    def load_steps(self) -> Iterator[_LoadStep]:
        groups = batches(self._resources, self.targets)
        orders = {resource.name: order for order, group in enumerate(groups, start=1) for resource in group}
        for name, order in orders.items():
            yield _LoadStep(self.path(name), order, self._operations(name))
        for name, associations in self.updated_later.items():
            yield _LoadStep(self.path(name), max(orders[each] for each in associations) + 1, ("Update",))

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
        found = {self._name(person.name): self._present(person.precede_update) for person in _PERSON_TYPES}
        return {name: associations for name, associations in found.items() if name in self._resources and associations}

    def _with_people_behind_associations(self, targets: Targets) -> Targets:
        for person in _PERSON_TYPES:
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
    """Replace dependencies on the person by dependencies on the associations, except those of the associations."""
    return {
        name: (found - {person}) | associations if person in found and name not in associations else found
        for name, found in targets.items()
    }
