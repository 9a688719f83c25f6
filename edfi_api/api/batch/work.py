"""Executes a batch: operations → results, in one transaction or independent of each other."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from edfi_api.api.batch.answers import Answer
from edfi_api.api.batch.body import Body
from edfi_api.api.batch.causes import Causes
from edfi_api.api.batch.envelope import Envelopes, SentOperations
from edfi_api.api.batch.failures import Failures
from edfi_api.api.batch.free_order import Sorting
from edfi_api.api.batch.free_run import FreeRun
from edfi_api.api.batch.operations import Attempt, Operation, Result, Summary
from edfi_api.api.batch.parameters import BatchLimits, Order, Parameters, Return
from edfi_api.api.batch.record import BatchRecord
from edfi_api.api.batch.recorded_operations import RecordedOperations
from edfi_api.api.batch.sets import Sets, stretches
from edfi_api.api.batch.singles import Singles
from edfi_api.api.batch.stored_uris import TransactionUris
from edfi_api.problem_details.http_exceptions import BatchFailed, BatchTimeout
from edfi_api.storage.driver.execution import ending_at_deadlock, holding
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.exceptions import TooMuchContention
from edfi_api.storage.recent_writers import record_writer

_KEY = {"key": 0x6261746368}
_AMONG_OTHERS = Sql("SELECT pg_advisory_xact_lock_shared(%(key)s::bigint) IS NULL", _KEY)
_WITHOUT_OTHERS = Sql("SELECT pg_advisory_xact_lock(%(key)s::bigint) IS NULL", _KEY)


@dataclass
class Batch:
    """A batch that is executed once."""

    body: Body
    parameters: Parameters
    envelopes: Envelopes
    singles: Singles
    causes: Causes
    record: BatchRecord
    sorting: Sorting
    limits: BatchLimits
    # An atomic batch that conflicts with others may be repeated, then without concurrent atomic batches.
    is_repetition: bool = False
    may_be_repeated: bool = False

    def __post_init__(self) -> None:
        self.summary = Summary(len(self.body))
        self._sets = Sets(self.singles)
        self._operations = SentOperations(self.envelopes, self.body)
        self._recorded = RecordedOperations(self.singles, self._operations, is_atomic=self.parameters.is_atomic)

    def atomically(self, answer: Answer) -> None:
        """Add all results and the summary to the answer. Raises BatchFailed and BatchTimeout if nothing was written."""
        try:
            self._all_or_nothing(answer)
        except BatchFailed:
            self._recorded.rolled_back()
            raise
        self._recorded.committed()
        record_writer(self.singles.client, self.singles.using)
        answer.end(self.summary.members())

    def independently(self, answer: Answer) -> Iterator[bytes]:
        """The answer in blocks. What is in one is on disk, and no transaction is open when it is taken.

        Raises BatchTimeout if nothing was done.
        """
        try:
            for result, refusal in self._attempts():
                self._note(result, refusal, answer)
                if answer.has_block:
                    yield answer.take()
        finally:
            record_writer(self.singles.client, self.singles.using)
        if self.summary.not_done and not self.summary.by_status:
            raise BatchTimeout
        answer.end(self.summary.members())
        yield answer.take()

    def _all_or_nothing(self, answer: Answer) -> None:
        failures = Failures()
        with self._transaction():
            for result, refusal in self._attempts():
                self._note(result, refusal, answer)
                if result.is_refused:
                    failures.add(result)
                if result.is_temporary:
                    if self.may_be_repeated:
                        raise TooMuchContention
                    break
            if self._is_over() and self.summary.not_done:
                raise BatchTimeout
            if failures.count:
                raise BatchFailed(failures.named(), failures.count, failures.are_temporary)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """That of all operations."""
        if self.body.is_single:
            yield
            return
        lock = _WITHOUT_OTHERS if self.is_repetition else _AMONG_OTHERS
        with ending_at_deadlock(), holding(lock, self.singles.using):
            yield

    def _note(self, result: Result, refusal: Exception | None, answer: Answer) -> None:
        self.summary.count(result)
        self.record.add(result)
        self._recorded.note(result, refusal)
        resource = result.operation.resource
        if isinstance(uris := self.singles.stored_uris, TransactionUris) and resource and resource.is_descriptor:
            uris.forget()
        if result.is_refused or self.parameters.returned is Return.ALL:
            answer.add(result.members())
        else:
            answer.skip(result.operation.position)

    def _attempts(self) -> Iterator[Attempt]:
        """The results, by position in given order. Ends early when the time is over."""
        if self.parameters.order is Order.GIVEN:
            return self._carried_out(range(len(self.body)))
        return FreeRun(self.sorting, self._sets, self._operations, self._carried_out, self.limits).attempts()

    def _carried_out(self, positions: Iterable[int]) -> Iterator[Attempt]:
        for stretch in stretches(positions, self._operations, self.limits.memory):
            if self._is_over():
                return
            for run, done in self._sets.runs(stretch):
                self.record.sets += bool(done)
                for operation in run:
                    if operation.position in done:
                        yield self._traced(*done[operation.position])
                    elif self._is_over():
                        return
                    else:
                        yield self._alone(operation)
                if self._is_over():
                    return

    def _is_over(self) -> bool:
        return bool(time.monotonic() > self.limits.end)

    def _alone(self, operation: Operation) -> Attempt:
        self.record.alone += 1
        return self._traced(*self.singles.attempted(operation))

    def _traced(self, result: Result, refusal: Exception | None) -> Attempt:
        """With the operation that caused a refusal."""
        if refusal is not None:
            result.caused_by = self.causes.of(result.operation, refusal)
            self.causes.add(result.operation)
        return result, refusal
