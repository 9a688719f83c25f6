"""From a resource to the basis of a custom view: which of its references lead to documents of that resource.

References in collections do not count. Those of the identity go before other required ones, and these before optional
ones: the school of a section is that of its course offering, not that of its location. A way may lead through further
documents, of whose keys the basis is a part: from a grade to its student by the section association. Of several ways
the shortest counts, and of equally short ones that whose references are named after their targets, without a role. If
several are left, all of their documents have to be in the view.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from edfi_api.surface.naming import lower_camel
from edfi_api.surface.resource import ALL_ITEMS, JsonPath, ReferencePath, Resource, ResourceName, Surface


@dataclass(frozen=True)
class Basis:
    """The resource that a custom view is about; an abstract one stands for its subclasses."""

    name: ResourceName
    documents: tuple[Resource, ...]

    @cached_property
    def names(self) -> frozenset[ResourceName]:
        """What references to its documents may have as their target."""
        return frozenset([self.name, *(each.name for each in self.documents)])


@dataclass(frozen=True)
class KeyValue:
    """One value of the key: where the subject has it, and where the documents of each basis resource have it."""

    here: JsonPath
    there: tuple[JsonPath, ...]

    @property
    def name(self) -> str:
        """What refusals call it."""
        return member_name(self.here)


@dataclass(frozen=True)
class BasisPath:
    """A way from the subject: the targets of the references on it, in order, the last of them the basis."""

    reference: JsonPath
    targets: tuple[ResourceName, ...]
    key: tuple[KeyValue, ...]
    # Whether none of the documents on the way has other references of that kind, so that the key need not be compared.
    is_only_one: bool


def member_name(path: JsonPath) -> str:
    """In the model's case: `StudentUniqueId`."""
    step = path.steps[-1]
    return step[0].upper() + step[1:]


def basis_named(strategy: str, surface: Surface) -> Basis | None:
    """What stands before `With` in the name of a strategy; the longest name of a resource if there are several."""
    ends = [index for index in range(1, len(strategy)) if _is_split(strategy, index)]
    bases = (_basis(strategy[:end], surface) for end in reversed(ends))
    return next((basis for basis in bases if basis), None)


def paths_to(basis: Basis, subject: Resource, surface: Surface) -> list[BasisPath]:
    """The ways that count; none if the subject does not lead to the basis."""
    references = [reference for reference in subject.references if _is_single(reference)]
    for found in (
        _shortest([each for each in references if each.is_identity], basis, surface),
        _shortest([each for each in references if each.is_required and not each.is_identity], basis, surface),
        _shortest([each for each in references if not each.is_required and not each.is_identity], basis, surface),
    ):
        if found:
            fewest = min(way.roles for way in found)
            return [way.as_path(basis, subject, surface) for way in found if way.roles == fewest]
    return []


def documents_of(name: ResourceName, surface: Surface) -> tuple[Resource, ...]:
    """The resources whose documents a reference to `name` can mean."""
    if name in surface.by_name:
        return (surface.by_name[name],)
    subclasses = (each.subclasses for each in surface.abstract_resources if each.name == name)
    return tuple(surface.by_name[each] for each in next(subclasses, ()))


def _is_split(strategy: str, index: int) -> bool:
    description = strategy[index:].removeprefix("With")
    return strategy.startswith("With", index) and description[:1].isalnum() and not description[:1].islower()


def _basis(name: str, surface: Surface) -> Basis | None:
    known = [each.name for each in (*surface.resources, *surface.abstract_resources) if each.name.resource == name]
    # Where extensions have the name too, the core project's is meant.
    known.sort(key=lambda each: each.project != surface.core_project.name)
    documents = documents_of(known[0], surface) if known else ()
    return Basis(known[0], documents) if documents and not documents[0].is_descriptor else None


def _is_single(reference: ReferencePath) -> bool:
    return ALL_ITEMS not in reference.path.steps


@dataclass(frozen=True)
class _Way:
    """References one behind the other; `pairs` say where the last target has the values of its key, and where the
    subject has them."""

    before: tuple[ReferencePath, ...]
    last: ReferencePath
    pairs: dict[JsonPath, JsonPath]

    @property
    def target(self) -> ResourceName:
        return self.last.target

    @property
    def references(self) -> tuple[ReferencePath, ...]:
        return (*self.before, self.last)

    def longer(self, surface: Surface) -> Iterator["_Way"]:
        """One reference further, where the subject repeats its key: so where it is part of the target's identity."""
        for target in documents_of(self.target, surface)[:1]:
            for reference in target.references:
                pairs = {pair.there: self.pairs[pair.here] for pair in reference.identity if pair.here in self.pairs}
                if reference.is_identity and len(pairs) == len(reference.identity):
                    yield _Way(self.references, reference, pairs)

    def as_path(self, basis: Basis, subject: Resource, surface: Surface) -> BasisPath:
        key = [KeyValue(here, _in_documents(there, self.target, basis)) for there, here in self.pairs.items()]
        targets = tuple(reference.target for reference in self.references)
        on_the_way = [(subject,), *(documents_of(target, surface) for target in targets[:-1])]
        is_only_one = all(
            _counted(document, documents_of(target, surface), surface) == 1
            for documents, target in zip(on_the_way, (*targets[:-1], basis.name), strict=True)
            for document in documents
        )
        return BasisPath(self.references[0].path, targets, tuple(sorted(key, key=_place)), is_only_one)

    @property
    def roles(self) -> int:
        return sum(map(_has_role, self.references))


def _shortest(references: Iterable[ReferencePath], basis: Basis, surface: Surface) -> list[_Way]:
    """Of the ways that begin with these references."""
    found = [_Way((), reference, {pair.there: pair.here for pair in reference.identity}) for reference in references]
    seen: set[ResourceName] = set()
    while found:
        if arrived := [way for way in found if way.target in basis.names]:
            return arrived
        onward = [way for way in found if way.target not in seen]
        seen.update(way.target for way in onward)
        found = [longer for way in onward for longer in way.longer(surface)]
    return []


def _place(value: KeyValue) -> JsonPath:
    return value.here


def _counted(resource: Resource, meant: tuple[Resource, ...], surface: Surface) -> int:
    """How many of the resource's references may mean documents of these."""
    return sum(
        any(document in meant for document in documents_of(reference.target, surface))
        for reference in resource.references
    )


def _has_role(reference: ReferencePath) -> bool:
    return reference.path.steps[-1] != f"{lower_camel(reference.target.resource)}Reference"


def _in_documents(there: JsonPath, target: ResourceName, basis: Basis) -> tuple[JsonPath, ...]:
    """Where the documents themselves have what a reference to their superclass calls `there`."""
    found = [
        next(
            (
                pair.here
                for pair in (document.superclass.identity if document.superclass else ())
                if document.name != target and pair.there == there
            ),
            there,
        )
        for document in basis.documents
    ]
    return tuple(found)
