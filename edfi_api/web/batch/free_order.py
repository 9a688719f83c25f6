"""Carries out a batch in free order: sorted, in passes while fewer operations remain, and circular references together.

What is referred to comes first, what refers to others last: upserts and creates in dependency order, then updates, with
people after their associations, then deletes in reverse order. Operations on one identity keep their order among each
other.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from uuid import UUID

from edfi_api.common.memory import MemoryExhausted, process_memory
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.security.exceptions import NoRelationship
from edfi_api.core.storage.exceptions import DocumentNotFound
from edfi_api.core.storage.sets.free_order import DeferredDocuments, in_passes, next_circles
from edfi_api.core.storage.stored import referential_ids
from edfi_api.model.surface.load_order import load_steps
from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.web.batch.natural_keys import NaturalKeys
from edfi_api.web.batch.operations import Attempt, Kind, Operation, Result, SentOperations
from edfi_api.web.batch.sent_batch import BatchLimits
from edfi_api.web.batch.sets import Sets
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from references.exceptions import DependentItemExists, UnresolvedReference

# Circles are written by one statement: many small ones at once, and none that would not fit into memory.
_ENOUGH_CIRCLES = 2_000
_LARGEST_CIRCLE = 5_000
# That are looked up at a time, and the length of each.
_MOST_IDS = 1_000
_ID_BYTES = 16

# Reasons of refusals that others of the batch may remove. An operation by natural key finds what the client may read:
# that nothing was found is such a reason, too.
_MAY_CHANGE = (UnresolvedReference, NoRelationship, DependentItemExists)
_MAY_BE_FOUND = (DocumentNotFound, ResourceNotFound)

CarryOut = Callable[[Iterable[int]], Iterator[Attempt]]


class _Place(NamedTuple):
    """The place where an operation is carried out: phase, rank of its resource in this phase, and the path of the
    resource.
    """

    phase: int
    rank: int
    path: str


_FIRST = _Place(0, -1, "")


class DependencyOrder:
    """The places of all operations of a surface."""

    def __init__(self, surface: Surface) -> None:
        steps = load_steps(surface)
        self._creates = {step.resource: step.order for step in steps if "Create" in step.operations}
        self._updates = {step.resource: step.order for step in steps if "Update" in step.operations}

    def place(self, operation: Operation) -> _Place:
        """Return the place of an operation as if there were no others. Those that are refused anyway come first."""
        if operation.resource is None or operation.kind is None or operation.refusal is not None:
            return _FIRST
        path = operation.resource.url_path
        rank = self._creates.get(path, 0)
        match operation.kind:
            case Kind.DELETE:
                return _Place(2, -rank, path)
            case Kind.UPDATE:
                return _Place(1, self._updates.get(path, rank), path)
        return _Place(0, rank, path)


class Sorting:
    """Sorts the operations of one batch; keeps a few bytes of each."""

    def __init__(
        self, order: DependencyOrder, natural_keys: NaturalKeys, validators: DocumentValidators, using: str
    ) -> None:
        self._order = order
        self._natural_keys = natural_keys
        self._validators = validators
        self._using = using
        # The referential ids of the documents that operations name by their ids, all as bytes, and those of a document
        # in one value: a third of the memory of sets of UUIDs.
        self._ids: dict[bytes, bytes] = {}

    def positions(self, operations: SentOperations) -> list[int]:
        """The positions in the order of writing."""
        known: dict[_Place, _Place] = {}
        places: list[_Place] = []
        phases: dict[ResourceName, set[int]] = {}
        by_id: list[UUID] = []
        self._ids.clear()
        for operation in map(operations.read, range(len(operations))):
            place = self._order.place(operation)
            places.append(known.setdefault(place, place))
            if operation.resource is not None and operation.refusal is None:
                phases.setdefault(operation.resource.name, set()).add(place.phase)
            if operation.document_uuid is not None:
                by_id.append(operation.document_uuid)
            if len(by_id) == _MOST_IDS:
                self._identify(by_id)
                by_id = []
        self._identify(by_id)
        mixed = {name for name, each in phases.items() if len(each) > 1}
        if mixed:
            self._keep_order_of_identities(
                places, (each for each in map(operations.read, range(len(operations))) if _name(each) in mixed)
            )
        return sorted(range(len(operations)), key=lambda position: (places[position], position))

    def _identify(self, documents: list[UUID]) -> None:
        for document, ids in referential_ids(documents, self._using).items():
            self._ids[document.bytes] = b"".join(id_.bytes for id_ in ids)

    def _keep_order_of_identities(self, places: list[_Place], operations: Iterable[Operation]) -> None:
        """Put each operation where the last one on the same document is, if its own place is before that."""
        last: dict[UUID, _Place] = {}
        for operation in operations:
            ids = self.identities(operation)
            place = max([places[operation.position], *(last[id_] for id_ in ids if id_ in last)])
            places[operation.position] = place
            last.update(dict.fromkeys(ids, place))

    def identities(self, operation: Operation) -> set[UUID]:
        """The referential ids of the documents that an operation concerns."""
        found: set[UUID] = set()
        if operation.resource is None or operation.refusal is not None:
            return found
        extractor = self._validators[operation.resource.name].extractor
        if operation.document_uuid is not None:
            joined = self._ids.get(operation.document_uuid.bytes, b"")
            found.update(UUID(bytes=joined[start : start + _ID_BYTES]) for start in range(0, len(joined), _ID_BYTES))
        if operation.key is not None:
            found.update(extractor.identity(operation.key).aliases)
        if operation.document is not None:
            part = self._natural_keys.part_of(operation.resource, operation.document)
            if part is not None:
                found.update(extractor.identity(part).aliases)
        return found


class FreeRun:
    """One run through the operations of a batch. `carry_out` ends early when the time is over."""

    def __init__(
        self, sorting: Sorting, sets: Sets, operations: SentOperations, carry_out: CarryOut, limits: BatchLimits
    ) -> None:
        self._sorting = sorting
        self._sets = sets
        self._operations = operations
        self._carry_out = carry_out
        self._limits = limits

    def attempts(self) -> Iterator[Attempt]:
        """The last attempt of each operation, in no order; some are missing if the time is over."""
        positions = self._sorting.positions(self._operations)
        with DeferredDocuments() as waiting:
            for rank, (result, refusal) in enumerate(self._carry_out(positions)):
                own = self._ids_if_waiting(result, refusal, waiting)
                if own is None:
                    yield result, refusal
                else:
                    waiting.add(result.operation.position, rank, own, **_reason(result, refusal))
            yield from in_passes(waiting, lambda: self._pass(waiting), lambda: self._circles(waiting))
            yield from self._carry_out(waiting.left())

    def _pass(self, waiting: DeferredDocuments) -> Iterator[Attempt]:
        for result, refusal in self._carry_out(waiting.begin_pass()):
            position = result.operation.position
            if self._ids_if_waiting(result, refusal, waiting) is None:
                waiting.remove(position)
                yield result, refusal
            else:
                waiting.wait_again(position, **_reason(result, refusal))

    def _ids_if_waiting(
        self, result: Result, refusal: Exception | None, waiting: DeferredDocuments
    ) -> list[bytes] | None:
        """The referential ids of what an operation concerns if it waits: it was refused for a reason that others of the
        batch may remove, or an earlier one on the same document waits, after which it has to be carried out again."""
        is_by_key = result.operation.key is not None
        may_change = isinstance(refusal, _MAY_CHANGE) or (is_by_key and isinstance(refusal, _MAY_BE_FOUND))
        if not may_change and not len(waiting):
            return None
        own = [id_.bytes for id_ in self._sorting.identities(result.operation)]
        return own if may_change or waiting.has_earlier(own, result.operation.position) else None

    def _circles(self, waiting: DeferredDocuments) -> Iterator[Attempt]:
        waiting.begin_circles()
        heaviest = max(map(self._operations.cost, waiting))
        enough = min(_ENOUGH_CIRCLES, max(1, self._limits.memory // heaviest))
        largest = min(_LARGEST_CIRCLE, (process_memory().size - self._limits.memory) // heaviest)
        while members := next_circles(waiting, enough, largest):
            try:
                with process_memory().reserve(sum(map(self._operations.cost, members)) - self._limits.memory):
                    for result in self._sets.write_together([self._operations.read(position) for position in members]):
                        waiting.remove(result.operation.position)
                        yield result, None
            except MemoryExhausted:
                self._limits.end = 0  # What is left is not done, and can be sent again.
                return


def _reason(result: Result, refusal: Exception | None) -> dict[str, Any]:
    """Return what an operation that waits misses. Only what is new may be in a circle."""
    is_unresolved = isinstance(refusal, UnresolvedReference)
    missing = refusal.ids if isinstance(refusal, UnresolvedReference) else frozenset()
    is_upsert = result.operation.kind in (Kind.CREATE, Kind.UPSERT)
    return {"missing": missing, "may_be_in_circle": is_unresolved and is_upsert}


def _name(operation: Operation) -> ResourceName | None:
    return operation.resource.name if operation.resource and operation.refusal is None else None
