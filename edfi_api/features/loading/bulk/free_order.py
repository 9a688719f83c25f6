"""Writes documents in any order: what can be written in some order, or only together in circles, is written.

A document that is refused for missing targets waits if these may still come. When all candidates have been tried, those
that wait are written in passes, each after what it refers to, then circles at once, as long as something is written.
So every permutation of a set of documents ends with the same documents; candidates for one document keep their order,
the last one counts. With `holds_changes`, a stored document is changed only when all candidates of a call have been
seen: an earlier candidate for the same document is then not written, and its result is UNCHANGED, `replaced_by` the
later one.

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
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import NamedTuple, Self
from uuid import UUID

from edfi_api.core.storage.sets import Refusal
from edfi_api.core.storage.sets.free_order import DeferredDocuments, in_passes, next_circles
from edfi_api.core.storage.stored import Outcome
from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.features.loading.bulk.candidates import Candidate, Place, Written
from edfi_api.features.loading.bulk.pipeline import BulkWriter
from edfi_api.model.surface.resource import Resource
from references.exceptions import UnresolvedReference

# Circles are written in one transaction: many small ones at once, and none that would not fit into memory.
_ENOUGH_CIRCLES = 2_000
_LARGEST_CIRCLE = 10_000
# These are not written, since something else is stored.
_LEFT = (Outcome.DIFFERENT, Outcome.REPEATED)

_SCHEMA = """
CREATE TABLE candidate (
    number INTEGER PRIMARY KEY,
    rank INTEGER, source INTEGER, line INTEGER, text BLOB,
    is_written INTEGER  -- while an earlier version of the same document waits, so that it has to be written again
);
"""

_HELD_SCHEMA = """
CREATE TABLE held (
    own BLOB UNIQUE, rank INTEGER, source INTEGER, line INTEGER, text BLOB,
    has_replaced INTEGER  -- whether an earlier candidate was written before
);
"""
_HOLD = "INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?, ?, ?)"
_HELD = "SELECT rank, source, line, text, has_replaced FROM held WHERE own = ?"
_IN_ORDER = "SELECT rank, source, line, text, has_replaced FROM held ORDER BY rank, source, line"


class Held(NamedTuple):
    """The origin of a candidate that has waited; `has_replaced` says that an earlier one was written before it."""

    place: Place
    has_replaced: bool


class HeldChanges(TemporaryDatabase):
    """The last candidate of each document; `resources` are in load order."""

    def __init__(self, resources: Sequence[Resource]) -> None:
        super().__init__(_HELD_SCHEMA)
        self._resources = resources
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def hold(self, own: bytes, rank: int, candidate: Candidate[Place], *, has_replaced: bool) -> None:
        """Let a candidate wait, in place of an earlier one for the same document."""
        self._size += self.of(own) is None
        self._database.execute(_HOLD, (own, rank, *candidate.origin, candidate.text, has_replaced))

    def of(self, own: bytes) -> Candidate[Place] | None:
        """Return the candidate that waits for a document, or None."""
        row = self._database.execute(_HELD, (own,)).fetchone() if self._size else None
        return None if row is None else self._candidate(row)

    def drop(self, own: bytes) -> None:
        """Drop the candidate that waits for a document, since a later one counts."""
        self._database.execute("DELETE FROM held WHERE own = ?", (own,))
        self._size -= 1

    def in_order(self) -> Iterator[Candidate[Held]]:
        """Yield all candidates in load order, those of a resource as they came."""
        for row in self._database.execute(_IN_ORDER):
            resource, text, place = self._candidate(row)
            yield Candidate(resource, text, Held(place, bool(row[-1])))

    def clear(self) -> None:
        """Drop all candidates."""
        self._database.execute("DELETE FROM held")
        self._size = 0

    def _candidate(self, row: tuple[int, int, int, bytes, int]) -> Candidate[Place]:
        rank, source, line, text, _ = row
        return Candidate(self._resources[rank], text, Place(source, line))


class _Again(NamedTuple):
    """The origin of a candidate that waits. If it has been written, its result is known."""

    number: int
    place: Place
    is_written: bool


class _DeferredCandidates(DeferredDocuments):
    """The candidates that wait, with their bodies and the ranks of their resources in load order."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)
        self._ranks: set[int] = set()

    def keep(
        self, candidate: Candidate[Place], rank: int, own: Iterable[bytes], missing: Iterable[UUID], *, is_written: bool
    ) -> None:
        """Let a candidate wait."""
        self._ranks.add(rank)
        values = (rank, *candidate.origin, candidate.text, is_written)
        query = "INSERT INTO candidate (rank, source, line, text, is_written) VALUES (?, ?, ?, ?, ?)"
        number = self._database.execute(query, values).lastrowid or 0
        self.add(number, rank, own, missing, may_be_in_circle=not is_written)

    def keep_written(self, number: int) -> None:
        """Let it wait on, though it has been written."""
        self._database.execute("UPDATE candidate SET is_written = 1 WHERE number = ?", (number,))
        self.wait_again(number, (), may_be_in_circle=False)

    def waits_for(self, rank: int, own: Iterable[bytes]) -> bool:
        """Return whether the same document waits."""
        return rank in self._ranks and self.has_earlier(own)

    def remove(self, number: int) -> None:
        super().remove(number)
        self._database.execute("DELETE FROM candidate WHERE number = ?", (number,))

    def candidate(self, number: int, resources: Sequence[Resource]) -> Candidate[_Again]:
        """Return the candidate that is to be tried again; `resources` are in load order."""
        query = "SELECT rank, source, line, text, is_written FROM candidate WHERE number = ?"
        rank, source, line, text, is_written = self._database.execute(query, (number,)).fetchone()
        return Candidate(resources[rank], text, _Again(number, Place(source, line), bool(is_written)))


class FreeOrder:
    """Writes candidates of these resources, which are in load order."""

    def __init__(self, writer: BulkWriter, resources: Sequence[Resource], *, holds_changes: bool = False) -> None:
        self._writer = writer
        self._held = HeldChanges(resources) if holds_changes else None
        self._resources = resources
        self._ranks = {resource.name: rank for rank, resource in enumerate(resources)}
        self._deferred = DeferredReferences(resources)
        self._expected: set[str] = set()
        self._waiting = _DeferredCandidates()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._waiting.close()
        if self._held is not None:
            self._held.close()

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
        with self._leaving_stored():
            for written in self._writer.write(candidates):
                yield from self._of_new(written)
        yield from self._write_held()

    def settle(self) -> Iterator[Written[Place]]:
        """Write what waits, in passes, as long as fewer wait after each; the results of those that need not wait."""
        with self._leaving_stored():
            yield from in_passes(self._waiting, self._pass, self._circles)
        yield from self._write_held()

    def finish(self) -> Iterator[Written[Place]]:
        """Do what `settle` does; what still waits is refused."""
        self._expected.clear()
        yield from self.settle()
        for written in self._writer.write(self._candidates(self._waiting.left())):
            if not written.candidate.origin.is_written:
                yield _with_place(written)

    def _leaving_stored(self) -> AbstractContextManager[None]:
        return nullcontext() if self._held is None else self._writer.leave_stored()

    def _of_new(self, written: Written[Place]) -> Iterator[Written[Place]]:
        """The final results of one that is tried for the first time, and of those that it replaces."""
        candidate, rank = written.candidate, self._ranks[written.candidate.resource.name]
        if isinstance(written.result, UnresolvedReference) and self._may_come(rank, written):
            self._deferred.defer(rank)
            self._waiting.keep(candidate, rank, written.aliases, written.result.ids, is_written=False)
            return
        if isinstance(written.result, Outcome) and self._waiting.waits_for(rank, written.aliases):
            is_written = written.result not in _LEFT
            self._waiting.keep(candidate, rank, written.aliases, (), is_written=is_written)
            if not is_written:
                return
        yield from self._unless_held(written)

    def _unless_held(self, written: Written[Place]) -> Iterator[Written[Place]]:
        """The result, unless it is to be written later, and that of an earlier candidate which it replaces."""
        if self._held is None or not isinstance(written.result, Outcome):
            yield written
            return
        own, candidate = written.aliases[0], written.candidate
        other = self._held.of(own)
        if other is not None and other.origin > candidate.origin:
            yield written._replace(result=Outcome.UNCHANGED, replaced_by=other.origin)
            return
        if other is not None:
            self._held.drop(own)
            yield Written(other, Outcome.UNCHANGED, written.aliases, replaced_by=candidate.origin)
        if written.result in _LEFT:
            rank = self._ranks[candidate.resource.name]
            self._held.hold(own, rank, candidate, has_replaced=written.result is Outcome.REPEATED)
        else:
            yield written

    def _write_held(self) -> Iterator[Written[Place]]:
        """Change the stored documents for which no later candidate has come."""
        if not self._held:
            return
        for written in self._writer.write(self._held.in_order()):
            yield _with_place(written)._replace(has_replaced=written.candidate.origin.has_replaced)
        self._held.clear()

    def _may_come(self, rank: int, written: Written[Place]) -> bool:
        return bool(written.aliases) and self._deferred.may_resolve_later(rank, written.result)

    def _pass(self) -> Iterator[Written[Place]]:
        return self._settle(self._writer.write(self._candidates(self._waiting.begin_pass())))

    def _circles(self) -> Iterator[Written[Place]]:
        self._waiting.begin_circles()
        while members := next_circles(self._waiting, _ENOUGH_CIRCLES, _LARGEST_CIRCLE):
            yield from self._settle(self._writer.write_together(self._candidates(members)))

    def _candidates(self, numbers: Iterable[int]) -> Iterator[Candidate[_Again]]:
        return (self._waiting.candidate(number, self._resources) for number in numbers)

    def _settle(self, results: Iterable[Written[_Again]]) -> Iterator[Written[Place]]:
        """Yield the final results; the other documents wait again."""
        for written in results:
            again, result = written.candidate.origin, written.result
            if isinstance(result, UnresolvedReference) and self._may_still_come(again.number, result):
                self._waiting.wait_again(again.number, result.ids)
                continue
            if isinstance(result, Outcome) and self._waiting.has_earlier(written.aliases, again.number):
                self._waiting.keep_written(again.number)
            else:
                self._waiting.remove(again.number)
            placed = _with_place(written)
            if not again.is_written:
                yield from self._unless_held(placed)
            elif isinstance(result, Outcome):
                # Its own result is known, unlike that of the earlier one.
                replaced = self._unless_held(placed._replace(result=Outcome.UNCHANGED))
                yield from (each for each in replaced if each.replaced_by == placed.candidate.origin)

    def _may_still_come(self, number: int, refusal: UnresolvedReference) -> bool:
        is_expected = not self._expected.isdisjoint(missing_resources(refusal))
        return is_expected or self._waiting.may_come(refusal.ids, number)


def _with_place(written: Written[_Again] | Written[Held]) -> Written[Place]:
    candidate = written.candidate
    placed = Candidate(candidate.resource, candidate.text, candidate.origin.place)
    return Written(placed, written.result, written.aliases, written.tolerated, written.warnings)


class DeferredReferences:
    """The resources of which documents may still be loaded; `rank` is the position in load order."""

    def __init__(self, resources: Sequence[Resource]) -> None:
        self._resources = resources
        self._not_before = _names_not_before(resources)
        self._deferred: set[str] = set()

    def may_resolve_later(self, rank: int, result: Outcome | Refusal) -> bool:
        """Return whether a document was refused only for targets whose resources follow or have deferred documents."""
        if not isinstance(result, UnresolvedReference):
            return False
        return missing_resources(result) <= self._not_before[rank] | self._deferred

    def defer(self, rank: int) -> None:
        """Record that a document of this resource is deferred."""
        self._deferred |= resource_names(self._resources[rank])


def _names_not_before(resources: Sequence[Resource]) -> list[set[str]]:
    """Return for each resource the names of itself and all later ones."""
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
