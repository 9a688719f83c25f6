"""Writes documents in any order: what can be written in some order, or only together in circles, is written.

A document that is refused for missing targets waits if these may still come. When all candidates have been tried, those
that wait are written in rounds, each behind what it refers to, then circles at once, as long as something is written.
So every permutation of a set of documents ends with the same documents; candidates for one document keep their order,
the last one counts.

To use it, for any source of candidates:

    with bulk_writer(using) as writer, FreeOrder(writer, surface.resources) as free_order:
        for written in free_order.write(candidates):   # best in load order, so that little has to wait
            ...                                        # a final result: an outcome or a refusal
        for written in free_order.finish():            # those that had to wait
            ...

Each candidate gets exactly one result, from its last attempt; its `origin` is a `Place`. `settle` may be called between
several calls of `write`, to continue once everything that can be written so far is written.

Load order puts targets before referrers, except for references to the same resource (a parent objective) and, if
references between resources are circular, to later ones. Documents with such missing targets are deferred.
"""

from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from edfi_api.loading.bulk.candidates import Candidate, Written
from edfi_api.loading.bulk.pipeline import BulkWriter
from edfi_api.loading.bulk.waiting import Place, WaitingCandidate, WaitingCandidates
from edfi_api.model.surface.resource import Resource
from edfi_api.storage.sets import Refusal
from edfi_api.storage.sets.rounds import in_rounds, next_circles
from edfi_api.storage.stored import Outcome
from references.exceptions import UnresolvedReference

# Circles are written in one transaction: many small ones at once, and none that would not fit into memory.
_ENOUGH_CIRCLES = 2_000
_LARGEST_CIRCLE = 10_000


class _Again(NamedTuple):
    """The origin of a candidate that waits."""

    number: int
    place: Place


class FreeOrder:
    """Writes candidates of these resources, which are in load order."""

    def __init__(self, writer: BulkWriter, resources: Sequence[Resource]) -> None:
        self._writer = writer
        self._resources = resources
        self._ranks = {resource.name: rank for rank, resource in enumerate(resources)}
        self._deferred = DeferredReferences(resources)
        self._expected: set[str] = set()
        self._waiting = WaitingCandidates()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._waiting.close()

    def expect(self, resource: Resource) -> None:
        """Documents of this resource follow in a later call of `write`; what refers to them waits until `finish`."""
        self._deferred.defer(self._ranks[resource.name])
        self._expected |= resource_names(resource)

    def expect_all(self) -> None:
        """Documents come in another order than the resources."""
        for resource in self._resources:
            self.expect(resource)

    def write(self, candidates: Iterable[Candidate[Place]]) -> Iterator[Written[Place]]:
        """The results of those that need not wait."""
        for written in self._writer.write(candidates):
            candidate, rank = written.candidate, self._ranks[written.candidate.resource.name]
            if isinstance(written.result, Outcome):
                self._waiting.follow(rank, candidate.origin, candidate.text, written.aliases)
            elif isinstance(written.result, UnresolvedReference) and self._may_come(rank, written):
                self._deferred.defer(rank)
                missing = written.result.ids
                self._waiting.add(rank, candidate.origin, candidate.text, written.aliases, missing)
                continue
            yield written

    def settle(self) -> Iterator[Written[Place]]:
        """Write what waits, in rounds, as long as less is waiting after each; the results of those that need not wait
        any longer."""
        yield from in_rounds(self._waiting, self._round, self._circles)

    def finish(self) -> Iterator[Written[Place]]:
        """As `settle`; what still waits is refused."""
        self._expected.clear()
        yield from self.settle()
        for written in self._writer.write(map(self._candidate, self._waiting.left())):
            yield _with_place(written)

    def _may_come(self, rank: int, written: Written[Place]) -> bool:
        return bool(written.aliases) and self._deferred.may_resolve_later(rank, written.result)

    def _round(self) -> Iterator[Written[Place]]:
        self._waiting.begin_round()
        yield from self._taken(self._writer.write(map(self._candidate, self._waiting.in_dependency_order())))
        self._repeat()

    def _circles(self) -> Iterator[Written[Place]]:
        self._waiting.begin_round()
        while members := next_circles(self._waiting, _ENOUGH_CIRCLES, _LARGEST_CIRCLE):
            candidates = map(self._candidate, self._waiting.candidates(members))
            yield from self._taken(self._writer.write_together(candidates))
        self._repeat()

    def _taken(self, results: Iterable[Written[_Again]]) -> Iterator[Written[Place]]:
        """The final ones; the others wait again."""
        for written in results:
            number, result = written.candidate.origin.number, written.result
            if isinstance(result, Outcome):
                self._waiting.written(number, written.aliases[0])
            elif isinstance(result, UnresolvedReference) and self._may_still_come(number, result):
                self._waiting.wait_again(number, result.ids)
                continue
            else:
                self._waiting.remove(number)
            yield _with_place(written)

    def _may_still_come(self, number: int, refusal: UnresolvedReference) -> bool:
        is_expected = not self._expected.isdisjoint(missing_resources(refusal))
        return is_expected or self._waiting.may_come(refusal.ids, number)

    def _repeat(self) -> None:
        """Write later versions of documents again, behind earlier ones that had to wait. Their results are known."""
        while superseding := self._waiting.to_repeat():
            for _ in self._writer.write(map(self._candidate, superseding)):
                pass

    def _candidate(self, waiting: WaitingCandidate) -> Candidate[_Again]:
        return Candidate(self._resources[waiting.rank], waiting.text, _Again(waiting.number, waiting.place))


def _with_place(written: Written[_Again]) -> Written[Place]:
    candidate = written.candidate
    placed = Candidate(candidate.resource, candidate.text, candidate.origin.place)
    return Written(placed, written.result, written.aliases, written.tolerated)


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
