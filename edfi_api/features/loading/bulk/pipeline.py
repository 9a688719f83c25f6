"""Candidates → results: prepares batches in several processes, and writes them in several threads, in order if needed.

The number of batches in progress is bounded, so memory does not grow with the input. Processes and threads start once
there is enough work for them. Within a transaction of the caller, only the caller's connection writes.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Cursor
from psycopg.rows import TupleRow

from edfi_api.common.processes import process_pool
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import TooMuchContention
from edfi_api.core.storage.sets import Refusal
from edfi_api.core.storage.sets.conflicts import Conflicts, Resolve, resolve_together
from edfi_api.core.storage.sets.staging import last_version, write_imported
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import preparation
from edfi_api.features.loading.bulk.candidates import Candidate, Origin, PreservedFields, Written
from edfi_api.features.loading.bulk.dry_run import AcceptedDocuments, DryRun
from edfi_api.features.loading.bulk.preparation import (
    MOST_DOCUMENTS,
    Batch,
    Part,
    Preparation,
    Prepared,
    UrisById,
    Work,
    WriteSet,
    are_descriptors,
    batches,
    write_set,
)
from edfi_api.features.loading.bulk.writing import BatchWriter, Results

Result = TypeVar("Result")

# A commit waits for the disk only if its transaction has written to the WAL; it then waits for all earlier WAL as well.
_WAIT_FOR_DISK = "SELECT pg_logical_emit_message(true, 'bulk load', '')"


# After a full batch there is mostly another, which is prepared while the first is written.
_ENOUGH_FOR_THREADS = MOST_DOCUMENTS
# Starting a process takes about as long as preparing this many documents.
_TOO_FEW_FOR_PROCESSES = 3 * MOST_DOCUMENTS


@contextmanager
def bulk_session(using: str) -> Iterator[None]:
    """Let everything that is committed within this context, on any connection, be on disk when it ends. A crash of the
    server before that can lose the most recent batches, but never a part of one; the load is run again then."""
    with connections[using].cursor() as cursor:
        try:
            yield
        finally:
            cursor.execute(_WAIT_FOR_DISK)


class WritingThreads:
    """Threads that run statements while this one goes on, each with its own connection. Work starts in order."""

    def __init__(self, count: int, using: str) -> None:
        self._using = using
        self._connections: list[BaseDatabaseWrapper] = []
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="bulk")

    def begin(self, work: Callable[[], Result]) -> Future[Result]:
        return self._pool.submit(self._run, work)

    def close(self) -> None:
        """Wait for running work, cancel the rest, close the connections."""
        self._pool.shutdown(cancel_futures=True)
        for connection in self._connections:
            connection.close()

    def _run(self, work: Callable[[], Result]) -> Result:
        connection = connections[self._using]
        if connection not in self._connections:
            connection.inc_thread_sharing()  # `end` closes it from another thread.
            self._connections.append(connection)
        return work()


class PreservingWriter(BatchWriter):
    """Writes batches as `BatchWriter` does, of documents that come with their envelopes from another server.

    Documents of the change versions `changed_here`, a multirange of PostgreSQL, stay as they are: their outcome is
    STALE. It is OTHER_IDENTITY if a document with another key has the id.
    """

    # More than for other loads: a batch that meets other writers cannot be written one document at a time.
    attempts = 10

    def __init__(self, using: str, changed_here: str, *, skips_rules: bool = False) -> None:
        super().__init__(using, preserved=PreservedFields.ENVELOPES, skips_rules=skips_rules)
        self._changed_here = changed_here

    def _write_staged(
        self, cursor: Cursor[TupleRow], batch: Batch, prepared: Prepared, resolve: Resolve
    ) -> tuple[Conflicts, dict[int, Outcome]]:
        keeps_keys = are_descriptors(batch)
        return write_imported(
            cursor, prepared.lines, prepared.aliases, resolve, self._changed_here, keeps_keys=keeps_keys
        )

    def _write_alone(self, candidate: Candidate[Any]) -> Outcome | Refusal:
        """Leave a document that would lose its envelope to a later pass."""
        return TooMuchContention()


def available_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(eq=False)
class _UnderWay:
    """A batch in progress; `written` returns its results: waits for a thread, or writes the batch itself."""

    batch: Batch
    work: Work
    prepared: Future[Prepared]
    written: Callable[[], Results] = dict

    @cached_property
    def write_set(self) -> WriteSet:
        """Wait until the batch has been prepared."""
        return write_set([part.resource for part in self.work.parts], self.prepared.result().aliases.values())


class BulkWriter:
    """Writes candidates as if one by one, for callers that choose the next candidates after earlier results."""

    def __init__(self, writer: BatchWriter, using: str, processes: int) -> None:
        self._writer = writer
        self._using = using
        self._count = processes
        self._processes: ProcessPoolExecutor | None = None
        self._first_is_up: Future[int] = Future()
        self._threads: WritingThreads | None = None
        self._in_this_process = Preparation()
        self._stored_uris: UrisById = {}
        self._seen = 0
        # The change version when the load began.
        self._began: int | None = None

    @contextmanager
    def leave_stored(self) -> Iterator[None]:
        """Leave stored documents as they are within this context, with the outcomes DIFFERENT and REPEATED. Results of
        earlier calls of `write` have been taken before."""
        if self._began is None:
            self._began = last_version(self._using)
        self._writer.leaves_since = self._began
        try:
            yield
        finally:
            self._writer.leaves_since = None

    def write(self, candidates: Iterable[Candidate[Origin]]) -> Iterator[Written[Origin]]:
        """A result for each, in order. Candidates are consumed some thousands ahead of their results."""
        for under_way in self._start(batches(candidates, self._writer.goes_alone)):
            yield from _written(under_way.batch, under_way.prepared.result(), under_way.written())

    def write_together(self, candidates: Iterable[Candidate[Origin]]) -> Iterator[Written[Origin]]:
        """Write the candidates in a single transaction; documents may refer to later ones, and references may be
        circular.
        """
        batch = list(candidates)
        prepared = self._normalize(work := self._work(batch), self._in_this_process.prepare(work))
        yield from _written(batch, prepared, self._writer.write(batch, prepared, resolve_together))

    def close(self) -> None:
        """Stop processes and threads; cancels work that has not started."""
        if self._threads is not None:
            self._threads.close()
        if self._processes is not None:
            self._processes.shutdown(cancel_futures=True)

    def _start(self, cut: Iterable[Batch]) -> Iterator[_UnderWay]:
        """Start the batches in order; later ones are started ahead of the one that is yielded."""
        ahead: deque[_UnderWay] = deque()
        for batch in cut:
            self._seen += len(batch)
            self._start_what_is_needed()
            ahead.append(self._begin(batch, tuple(ahead)))
            while len(ahead) > (2 * self._count if self._threads or self._processes else 0):
                yield ahead.popleft()
        while ahead:
            yield ahead.popleft()

    def _start_what_is_needed(self) -> None:
        if not self._count:
            return
        may_start = self._writer.is_concurrent and not connections[self._using].in_atomic_block
        if self._threads is None and self._seen >= _ENOUGH_FOR_THREADS and may_start:
            self._threads = WritingThreads(self._count, self._using)
        if self._processes is None and self._seen > _TOO_FEW_FOR_PROCESSES:
            self._processes = process_pool(self._count)
            self._first_is_up = self._processes.submit(os.getpid)

    def _begin(self, batch: Batch, earlier: Sequence[_UnderWay]) -> _UnderWay:
        work = self._work(batch)
        under_way = _UnderWay(batch, work, self._prepare(work))
        if self._threads is None:
            under_way.written = partial(self._write, under_way, ())
        else:
            under_way.written = self._threads.begin(partial(self._write, under_way, earlier)).result
        return under_way

    def _write(self, under_way: _UnderWay, earlier: Sequence[_UnderWay]) -> Results:
        # Rules may look up whatever was written before.
        waits = self._writer.looks_up(under_way.batch[0].resource)
        for other in earlier:
            if waits or not under_way.write_set.is_independent_of(other.write_set):
                other.written()
        sent = under_way.prepared.result()
        prepared = self._normalize(under_way.work, sent)
        results = self._writer.write(under_way.batch, prepared)
        sent.warnings.update(prepared.warnings)
        # In the stored case rules may accept what they refused as it was sent.
        sent.aliases.update(prepared.aliases)
        return results

    def _normalize(self, work: Work, prepared: Prepared) -> Prepared:
        """The batch with descriptors in their stored case. Differences are rare; such batches are prepared again."""
        others = self._writer.differing_uris(prepared)
        if not others:
            return prepared
        self._stored_uris = {**self._stored_uris, **others}
        return self._prepare(replace(work, stored_uris=self._stored_uris)).result()

    def _prepare(self, work: Work) -> Future[Prepared]:
        if self._processes is not None and self._first_is_up.done():
            return self._processes.submit(preparation.prepare, work)
        done: Future[Prepared] = Future()
        done.set_result(self._in_this_process.prepare(work))
        return done

    def _work(self, batch: Batch) -> Work:
        numbers = resource_types.numbers(self._using)
        parts = [list(part) for _, part in groupby(batch, key=_resource_name)]
        return Work(
            [
                Part(part[0].resource, numbers[part[0].resource.name], [candidate.text for candidate in part])
                for part in parts
            ],
            self._stored_uris,
            self._writer.preserved,
            self._writer.skips_rules,
            self._writer.writing_client,
        )


def _resource_name(candidate: Candidate[Any]) -> Any:
    return candidate.resource.name


def _written(batch: Sequence[Candidate[Origin]], prepared: Prepared, results: Results) -> Iterator[Written[Origin]]:
    for position, candidate in enumerate(batch):
        aliases, tolerated = prepared.aliases.get(position, ()), prepared.tolerated.get(position, ())
        yield Written(candidate, results[position], aliases, tolerated, prepared.warnings.get(position, ()))


@contextmanager
def bulk_writer(
    using: str = DEFAULT_DB_ALIAS,
    client: int | None = None,
    processes: int | None = None,
    dry_run: AcceptedDocuments | None = None,
    *,
    preserved: PreservedFields = PreservedFields.NOTHING,
    changed_here: str = "{}",
    skips_rules: bool = False,
) -> Iterator[BulkWriter]:
    """A writer whose work is complete and on disk when the context ends.

    `processes` prepare the documents: one per processor if None; 0 uses this process and a single connection. `client`
    is the API client's row id. With a `dry_run` nothing is written; it gets the documents that would be accepted.
    `preserved` says what bodies bring with them: new documents get the `id` of their bodies, which must not be that of
    another document; with envelopes stored ones get it too, except those of `changed_here` (`PreservingWriter`). With
    `skips_rules` custom rules are not run.
    """
    batch_writer = BatchWriter(using, client, preserved, skips_rules=skips_rules)
    if dry_run is not None:
        batch_writer = DryRun(using, dry_run, preserved, skips_rules=skips_rules)
    elif preserved is PreservedFields.ENVELOPES:
        batch_writer = PreservingWriter(using, changed_here, skips_rules=skips_rules)
    with bulk_writer_by(batch_writer, using, processes) as writer:
        yield writer


@contextmanager
def bulk_writer_by(batch_writer: BatchWriter, using: str, processes: int | None = None) -> Iterator[BulkWriter]:
    """Yield a bulk writer with another way to write a batch."""
    writer = BulkWriter(batch_writer, using, available_processors() if processes is None else processes)
    with bulk_session(using):
        try:
            yield writer
        finally:
            writer.close()


def write_documents(
    candidates: Iterable[Candidate[Origin]], using: str = DEFAULT_DB_ALIAS
) -> Iterator[Written[Origin]]:
    """Write the candidates as if one by one in the given order; a result for each."""
    with bulk_writer(using) as writer:
        yield from writer.write(candidates)
