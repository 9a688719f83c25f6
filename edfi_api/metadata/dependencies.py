"""The order in which resources are loaded, as Ed-Fi tells it to clients. See
meadowlark/docs/contract.md#loading-order.

It is more than the order of references: what a client may do with people depends on associations, so whatever refers
to a person has to wait for these, and people can be updated by most clients only after them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from lxml import etree
from lxml.builder import ElementMaker

from edfi_api.surface.load_order import Targets, batches, targets_of, without_circles
from edfi_api.surface.resource import ResourceKind, ResourceName, Surface

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_XML = ElementMaker(namespace=_NAMESPACE, nsmap={None: _NAMESPACE})


@dataclass(frozen=True, slots=True)
class PersonType:
    """People of one kind: through which associations they are authorized, and which precede their update."""

    name: str
    associations: frozenset[str]
    precede_update: frozenset[str]


def _person(name: str, associations: Iterable[str], others_before_update: Iterable[str] = ()) -> PersonType:
    return PersonType(name, frozenset(associations), frozenset({*associations, *others_before_update}))


# Fixed in Ed-Fi's servers, by name; Contact was called Parent before data standard 5.
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
    """A resource, the group in which it comes, and what can be done with it then."""

    resource: str
    order: int
    operations: tuple[str, ...]


def load_steps(surface: Surface, root: str) -> list[LoadStep]:
    """All steps, in order, those of one group alphabetically."""
    return sorted(_Dependencies(surface).load_steps(), key=lambda step: (step.order, step.resource))


def graphml(surface: Surface, root: str) -> bytes:
    """The same as a graph: its edges lead from what has to be there to what waits for it."""
    return _Dependencies(surface).graphml()


class _Dependencies:
    """What waits for what in a surface. School years are left out: they precede everything."""

    def __init__(self, surface: Surface) -> None:
        self._resources = {r.name: r for r in surface.resources if r.kind is not ResourceKind.SCHOOL_YEAR}
        self._core = surface.core_project.name
        self._abstract = surface.abstract_resources

    def graphml(self) -> bytes:
        updates = {name: f"{self._path(name)}#Retry" for name in self._updated_later}
        paths = [self._path(name) for name in self._targets]
        edges = [(self._path(target), self._path(name)) for name, found in self._targets.items() for target in found]
        edges += [(self._path(target), updates[name]) for name in updates for target in self._updated_later[name]]
        graph = _XML.graph({"id": "EdFi Dependencies", "edgedefault": "directed"})
        graph.extend(_XML.node(id=path) for path in sorted([*paths, *updates.values()]))
        graph.extend(_XML.edge(source=source, target=target) for source, target in sorted(edges))
        return etree.tostring(_XML.graphml(graph), xml_declaration=True, encoding="utf-8")

    def load_steps(self) -> Iterator[LoadStep]:
        groups = batches(self._resources, self._targets)
        orders = {resource.name: order for order, group in enumerate(groups, start=1) for resource in group}
        for name, order in orders.items():
            operations = ("Create",) if name in self._updated_later else ("Create", "Update")
            yield LoadStep(self._path(name), order, operations)
        for name, associations in self._updated_later.items():
            yield LoadStep(self._path(name), max(orders[each] for each in associations) + 1, ("Update",))

    @cached_property
    def _targets(self) -> Targets:
        """For each resource the others that it waits for, without circles."""
        required, all_targets = (
            self._with_people_behind_associations(targets_of(self._resources, self._abstract, only_required=only))
            for only in (True, False)
        )
        return without_circles(all_targets, required)

    @cached_property
    def _updated_later(self) -> Mapping[ResourceName, frozenset[ResourceName]]:
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

    def _path(self, name: ResourceName) -> str:
        return self._resources[name].url_path


def _rewired(targets: Targets, person: ResourceName, associations: frozenset[ResourceName]) -> Targets:
    """Whatever waits for the person waits for the associations instead, apart from these themselves."""
    return {
        name: (found - {person}) | associations if person in found and name not in associations else found
        for name, found in targets.items()
    }
