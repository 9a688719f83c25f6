"""Candidates → results: batches are prepared in several processes while the one before is written.

Not more batches are under way than there are processes to prepare them, so memory does not grow with the input. The
processes start when there is enough to do for them.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.documents import resource_types
from edfi_api.documents.bulk import preparation
from edfi_api.documents.bulk.batches import MOST_DOCUMENTS, Batch, batches
from edfi_api.documents.bulk.candidates import Candidate, Written
from edfi_api.documents.bulk.judgement import judge_together
from edfi_api.documents.bulk.preparation import Preparation, Prepared, Work
from edfi_api.documents.bulk.writing import BatchWriter, Results
from edfi_api.documents.processes import process_pool
from edfi_api.surface.resource import ResourceName

# A process takes about as long to start as this process takes to prepare so many documents.
_TOO_FEW_FOR_PROCESSES = 3 * MOST_DOCUMENTS


def available_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class BulkWriter:
    """Writes candidates as if one after the other; for a caller that decides after some what to write next."""

    def __init__(self, writer: BatchWriter, using: str, processes: int) -> None:
        self._writer = writer
        self._using = using
        self._processes = processes
        self._pool: ProcessPoolExecutor | None = None
        self._in_this_process = Preparation()
        self._seen = 0

    def write(self, candidates: Iterable[Candidate]) -> Iterator[Written]:
        """A result for each, in their order. Candidates are taken some thousands ahead of their results."""
        for batch, prepared in self._prepared(batches(candidates)):
            yield from _written(batch, prepared, self._writer.write(batch, prepared))

    def write_together(self, candidates: Iterable[Candidate]) -> Iterator[Written]:
        """The same in a single transaction, where documents may refer to later ones and to each other in a circle."""
        batch = Batch()
        for candidate in candidates:
            batch.add(candidate)
        prepared = self._in_this_process.prepare(_work(batch, self._using))
        yield from _written(batch, prepared, self._writer.write(batch, prepared, judge_together))

    def end(self) -> None:
        """Stop the processes, without what nobody waits for any more."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _prepared(self, cut: Iterable[Batch]) -> Iterator[tuple[Batch, Prepared]]:
        under_way: deque[tuple[Batch, Future[Prepared]]] = deque()
        for batch in cut:
            under_way.append((batch, self._submit(batch)))
            if len(under_way) > self._processes or self._pool is None:
                yield _first_of(under_way)
        while under_way:
            yield _first_of(under_way)

    def _submit(self, batch: Batch) -> Future[Prepared]:
        self._seen += len(batch.candidates)
        if self._pool is None and self._processes and self._seen > _TOO_FEW_FOR_PROCESSES:
            self._pool = process_pool(self._processes)
        work = _work(batch, self._using)
        if self._pool is not None:
            return self._pool.submit(preparation.prepare, work)
        done: Future[Prepared] = Future()
        done.set_result(self._in_this_process.prepare(work))
        return done


def _written(batch: Batch, prepared: Prepared, results: Results) -> Iterator[Written]:
    for position, candidate in enumerate(batch.candidates):
        yield Written(candidate, results[position], prepared.referential_id(position))


def _first_of(under_way: deque[tuple[Batch, Future[Prepared]]]) -> tuple[Batch, Prepared]:
    batch, prepared = under_way.popleft()
    return batch, prepared.result()


@contextmanager
def bulk_writer(
    using: str = DEFAULT_DB_ALIAS, client: int | None = None, processes: int | None = None
) -> Iterator[BulkWriter]:
    """`processes` prepare the documents, as many as there are processors if it is None; none but this one if it is 0.
    `client` is the API client's row id."""
    count = available_processors() if processes is None else processes
    writer = BulkWriter(BatchWriter(using, client), using, count)
    with _bulk_session(using):
        try:
            yield writer
        finally:
            writer.end()


def write_documents(candidates: Iterable[Candidate], using: str = DEFAULT_DB_ALIAS) -> Iterator[Written]:
    """Write the candidates as if one after the other in the given order; a result for each."""
    with bulk_writer(using) as writer:
        yield from writer.write(candidates)


def _work(batch: Batch, using: str) -> Work:
    numbers = resource_types.numbers(using)
    resources = list({candidate.resource.name: candidate.resource for candidate in batch.candidates}.values())
    places: dict[ResourceName, int] = {resource.name: place for place, resource in enumerate(resources)}
    return Work(
        resources=[(resource, numbers[resource.name]) for resource in resources],
        bodies=[
            (places[candidate.resource.name], body)
            for candidate, body in zip(batch.candidates, batch.bodies, strict=True)
        ],
    )


@contextmanager
def _bulk_session(using: str) -> Iterator[None]:
    """Commits return before the disk has them, until the end, which waits for all.

    A crash in between loses the newest batches as wholes, never a part of one; the load is then run again. The
    compiler for expressions stays out: it takes the statements of a batch for long-running ones.
    """
    with connections[using].cursor() as cursor:
        cursor.execute("SET synchronous_commit TO off; SET jit TO off")
        try:
            yield
        finally:
            cursor.execute("RESET synchronous_commit; RESET jit")
            # A commit waits for the disk only if its transaction has written something; then for all before it too.
            cursor.execute("SELECT pg_logical_emit_message(true, 'bulk load', '')")
