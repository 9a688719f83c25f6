"""Executes a batch in free order: sorted, in rounds while fewer operations remain, and circular references together."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from edfi_api.api.batch.envelope import SentOperations
from edfi_api.api.batch.free_order import Sorting
from edfi_api.api.batch.operations import Attempt, Operation
from edfi_api.api.batch.parameters import BatchLimits
from edfi_api.api.batch.sets import Sets
from edfi_api.api.batch.waiting import Waiting
from edfi_api.memory import MemoryExhausted, process_memory
from edfi_api.storage.sets.rounds import in_rounds, next_circles

# Circles are written by one statement: many small ones at once, and none that would not fit into memory.
_ENOUGH_CIRCLES = 2_000
_LARGEST_CIRCLE = 5_000

CarryOut = Callable[[Iterable[int]], Iterator[Attempt]]


class FreeRun:
    """One run through the operations of a batch. `carry_out` ends early when the time is over."""

    def __init__(
        self,
        sorting: Sorting,
        sets: Sets,
        operations: SentOperations,
        carry_out: CarryOut,
        limits: BatchLimits,
    ) -> None:
        self._sorting = sorting
        self._sets = sets
        self._operations = operations
        self._carry_out = carry_out
        self._limits = limits
        self._waiting = Waiting()

    def attempts(self) -> Iterator[Attempt]:
        """The last attempt of each operation, in no order; some are missing if the time is over."""
        yield from self._round(self._sorting.positions(self._operations))
        yield from in_rounds(self._waiting, lambda: self._round(self._waiting.taken()), self._circles)
        yield from self._carry_out(self._waiting.taken())

    def _round(self, positions: Iterable[int]) -> Iterator[Attempt]:
        for result, refusal in self._carry_out(positions):
            operation = result.operation
            if not self._waiting.takes(operation, self._own(operation), refusal):
                yield result, refusal

    def _circles(self) -> Iterator[Attempt]:
        self._waiting.begin_circles()
        heaviest = max(map(self._operations.cost, self._waiting.positions))
        enough = min(_ENOUGH_CIRCLES, max(1, self._limits.memory // heaviest))
        largest = min(_LARGEST_CIRCLE, (process_memory().size - self._limits.memory) // heaviest)
        while members := next_circles(self._waiting, enough, largest):
            try:
                with process_memory().lent(sum(map(self._operations.cost, members)) - self._limits.memory):
                    yield from self._together(members)
            except MemoryExhausted:
                self._limits.end = 0  # What is left is not done, and can be sent again.
                return

    def _together(self, members: Sequence[int]) -> Iterator[Attempt]:
        for result in self._sets.together([self._operations.read(position) for position in members]):
            self._waiting.remove(result.operation.position)
            yield result, None

    def _own(self, operation: Operation) -> Iterable[int]:
        return (id_.int for id_ in self._sorting.identities(operation))
