"""Paths from a resource to the basis of a custom view: the references that lead to documents of the basis resource.

References in collections are ignored. References of the identity take precedence over other required ones, and these
over optional ones: the school of a section is that of its course offering, not that of its location. A path may pass
through further documents whose keys contain the basis: from a grade to its student by the section association. The
shortest path is used, and of equally short ones the one whose references have no role name. If several remain, all of
their documents have to be in the view.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from edfi_api.model.surface.naming import lower_camel
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, ReferencePath, Resource, ResourceName, Surface


@dataclass(frozen=True)
class Basis:
    """The resource whose documents a custom view lists; an abstract one stands for its subclasses."""

    name: ResourceName
    documents: tuple[Resource, ...]

    @cached_property
    def names(self) -> frozenset[ResourceName]:
        """The possible targets of references to its documents."""
        return frozenset([self.name, *(each.name for each in self.documents)])


@dataclass(frozen=True)
class KeyValue:
    """One value of the key: its path in the subject, and its path in the documents of each basis resource."""

    here: JsonPath
    there: tuple[JsonPath, ...]

    @property
    def name(self) -> str:
        """Its name in error messages."""
        return member_name(self.here)


@dataclass(frozen=True)
class BasisPath:
    """A path from the subject: the targets of its references, in order, the last of them the basis."""

    reference: JsonPath
    targets: tuple[ResourceName, ...]
    key: tuple[KeyValue, ...]
    # Whether no document on the path has another reference to the same target, so that the key need not be compared.
    is_only_one: bool


def member_name(path: JsonPath) -> str:
    """In the model's case: `StudentUniqueId`."""
    step = path.steps[-1]
    return step[0].upper() + step[1:]


def basis_named(strategy: str, surface: Surface) -> Basis | None:
    """The resource named before `With` in the strategy's name; the longest name if several match."""
    ends = [index for index in range(1, len(strategy)) if _is_split(strategy, index)]
    bases = (_basis(strategy[:end], surface) for end in reversed(ends))
    return next((basis for basis in bases if basis), None)


def paths_to(basis: Basis, subject: Resource, surface: Surface) -> list[BasisPath]:
    """The paths to use; empty if the subject does not refer to the basis."""
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
    """The resources whose documents a reference to `name` can refer to."""
    if name in surface.by_name:
        return (surface.by_name[name],)
    subclasses = (each.subclasses for each in surface.abstract_resources if each.name == name)
    return tuple(surface.by_name[each] for each in next(subclasses, ()))


def _is_split(strategy: str, index: int) -> bool:
    description = strategy[index:].removeprefix("With")
    return strategy.startswith("With", index) and description[:1].isalnum() and not description[:1].islower()


def _basis(name: str, surface: Surface) -> Basis | None:
    names = [*(each.name for each in surface.resources), *(each.name for each in surface.abstract_resources)]
    known = [each for each in names if each.resource == name]
    # The core project takes precedence over extensions with a resource of the same name.
    known.sort(key=lambda each: each.project != surface.core_project.name)
    documents = documents_of(known[0], surface) if known else ()
    return Basis(known[0], documents) if documents and not documents[0].is_descriptor else None


def _is_single(reference: ReferencePath) -> bool:
    return ALL_ITEMS not in reference.path.steps


@dataclass(frozen=True)
class _Way:
    """A chain of references; `pairs` maps the paths of the last target's key to the paths in the subject."""

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
        """Chains with one more reference, of those in the target's identity: only their keys repeat in the subject."""
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
    """The shortest chains that begin with these references."""
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


def _counted(resource: Resource, targets: tuple[Resource, ...], surface: Surface) -> int:
    """The number of the resource's references that can refer to documents of these resources."""
    return sum(
        any(document in targets for document in documents_of(reference.target, surface))
        for reference in resource.references
    )


def _has_role(reference: ReferencePath) -> bool:
    return reference.path.steps[-1] != f"{lower_camel(reference.target.resource)}Reference"


def _in_documents(there: JsonPath, target: ResourceName, basis: Basis) -> tuple[JsonPath, ...]:
    """The paths, in the documents themselves, of the value that a reference to their superclass has at `there`."""
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
