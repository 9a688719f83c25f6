"""Writes one prepared batch: staged by COPY, checked for conflicts, written by set-based statements.

Documents that conflict with a concurrent writer are written one by one with `store.upsert`, as for any client.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError, OperationalError, connections, transaction
from psycopg import Cursor, errors
from psycopg.rows import TupleRow

from edfi_api.documents.incoming import IncomingDocument, Preparer
from edfi_api.loading.bulk.batches import Batch
from edfi_api.loading.bulk.candidates import Candidate
from edfi_api.loading.bulk.preparation import Prepared, UrisById
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.storage import descriptor_casing, store
from edfi_api.storage.requests import WriteRequest
from edfi_api.storage.sets import REFUSALS, Refusal, statements
from edfi_api.storage.sets.conflicts import Conflicts, Resolve, resolve
from edfi_api.storage.sets.row_refusals import refusals
from edfi_api.storage.stored import Outcome
from references import resolution

Results = dict[int, Outcome | Refusal]

_IN_NO_PASS = 0
_ATTEMPTS = 3
_CONCURRENT = (errors.DeadlockDetected, errors.SerializationFailure)


class MetConcurrentWrites(Exception):
    """The transaction of the batch failed because of a concurrent one; nothing was written."""


class BatchWriter:
    """Writes the batches of one load, each in one transaction on the connection of the calling thread."""

    # Whether several threads may write at a time.
    is_concurrent = True

    def __init__(self, using: str, client: int | None = None) -> None:
        self._using = using
        self._client = client
        self._stored_uris = partial(descriptor_casing.stored_uris, using=using)
        self._preparers: dict[ResourceName, Preparer] = {}

    def differing_uris(self, prepared: Prepared) -> UrisById:
        """The stored URIs of the batch's descriptors that differ in case, by referential id."""
        stored = self._stored_uris({id_ for id_, _ in prepared.descriptors})
        return {id_: stored[id_] for id_, used in prepared.descriptors if stored.get(id_, used) != used}

    def write(self, batch: Batch, prepared: Prepared, resolve: Resolve = resolve) -> Results:
        """The result of each candidate by its position, as if they were written one by one."""
        conflicts, outcomes = self._write_at_once(prepared, resolve)
        results: Results = {**prepared.refusals, **outcomes, **dict(self._refusals(batch, conflicts))}
        if len(results) < len(batch):
            for position in sorted(prepared.aliases.keys() - results.keys()):
                results[position] = self._write_alone(batch[position])
        return results

    def _write_at_once(self, prepared: Prepared, resolve: Resolve) -> tuple[Conflicts, dict[int, Outcome]]:
        for _ in range(_ATTEMPTS if prepared.aliases else 0):
            try:
                with one_transaction(self._using) as cursor:
                    return _write_rows(cursor, prepared, resolve, self._client)
            except MetConcurrentWrites:
                continue
        return Conflicts(), {}

    def _refusals(self, batch: Batch, conflicts: Conflicts) -> Iterator[tuple[int, Refusal]]:
        incoming = {position: self._incoming(batch[position]) for position in conflicts.duplicates}
        for position in conflicts.missing:
            candidate = batch[position]
            incoming[position] = self._preparer(candidate.resource).prepare_new(candidate.body, lambda _: {})
        return refusals(conflicts, incoming, self._missing, self._using)

    def _missing(self, ids: Iterable[UUID]) -> set[UUID]:
        """Those that belong to no document."""
        return resolution.missing(ids, self._using)

    def _write_alone(self, candidate: Candidate[Any]) -> Outcome | Refusal:
        try:
            request = WriteRequest(self._incoming(candidate), client=self._client, using=self._using)
            return store.upsert(request).outcome
        except REFUSALS as error:
            refusal: Refusal = error
            return refusal

    def _incoming(self, candidate: Candidate[Any]) -> IncomingDocument:
        return self._preparer(candidate.resource).prepare(candidate.body, self._stored_uris)

    def _preparer(self, resource: Resource) -> Preparer:
        if resource.name not in self._preparers:
            self._preparers[resource.name] = Preparer(resource)
        return self._preparers[resource.name]


@contextmanager
def one_transaction(using: str) -> Iterator[Cursor[TupleRow]]:
    """A psycopg cursor in a transaction, or in a savepoint of the caller's transaction."""
    connection = connections[using]
    is_of_caller = connection.in_atomic_block
    try:
        with transaction.atomic(using), connection.wrap_database_errors, Cursor(connection.connection) as cursor:
            _run(cursor, statements.WITHOUT_JIT)
            if not is_of_caller:
                _run(cursor, statements.WITHOUT_WAITING_FOR_DISK)
            yield cursor
    except IntegrityError as error:
        raise MetConcurrentWrites from error
    except OperationalError as error:
        if isinstance(error.__cause__, _CONCURRENT):
            raise MetConcurrentWrites from error
        raise


def _write_rows(
    cursor: Cursor[TupleRow], prepared: Prepared, resolve: Resolve, client: int | None
) -> tuple[Conflicts, dict[int, Outcome]]:
    stage(cursor, prepared.lines)
    conflicts = find_conflicts(cursor, prepared.aliases, resolve)
    outcomes: dict[int, Outcome] = {}
    for pass_number, size in enumerate(conflicts.pass_sizes(len(prepared.aliases)), start=1):
        written = _written(cursor, pass_number, client)
        outcomes |= written
        if len(written) < size:
            break  # A document that changed concurrently is written alone, and further rows for it have to follow.
    return conflicts, outcomes


def stage(cursor: Cursor[TupleRow], lines: bytes) -> None:
    _run(cursor, statements.STAGE)
    with cursor.copy(statements.COPY) as copy:
        copy.write(lines)
    _run(cursor, statements.ANALYZE)


def find_conflicts(cursor: Cursor[TupleRow], aliases: Mapping[int, tuple[bytes, ...]], resolve: Resolve) -> Conflicts:
    not_stored: dict[int, set[bytes]] = {}
    for position, target in rows_of(cursor, statements.NOT_STORED):
        not_stored.setdefault(position, set()).add(target.bytes)
    have_superclass = any(len(ids) > 1 for ids in aliases.values())
    duplicates = {position for (position,) in rows_of(cursor, statements.DUPLICATES)} if have_superclass else set()
    conflicts = resolve(aliases, not_stored, duplicates)
    _set_passes(cursor, conflicts)
    return conflicts


def _set_passes(cursor: Cursor[TupleRow], conflicts: Conflicts) -> None:
    passes = conflicts.later | dict.fromkeys([*conflicts.duplicates, *conflicts.missing], _IN_NO_PASS)
    if passes:
        _run(cursor, statements.SET_PASSES, {"positions": list(passes), "passes": list(passes.values())})


def _written(cursor: Cursor[TupleRow], pass_number: int, client: int | None) -> dict[int, Outcome]:
    """Outcomes by position; rows that were changed concurrently are missing."""
    found: dict[int, Outcome] = {}
    parameters = {"pass_number": pass_number, "client": client}
    for outcome, positions in rows_of(cursor, statements.WRITE, parameters):
        found |= dict.fromkeys(positions, Outcome(outcome))
    return found


def rows_of(cursor: Cursor[TupleRow], statement: str, parameters: Mapping[str, Any] | None = None) -> list[TupleRow]:
    return _run(cursor, statement, parameters).fetchall()


def _run(cursor: Cursor[TupleRow], statement: str, parameters: Mapping[str, Any] | None = None) -> Cursor[TupleRow]:
    """Not prepared: batches differ in size, so each execution needs its own plan. Also, psycopg deallocates all
    prepared statements of a connection after a rollback, including those of `storage.driver.prepared`."""
    return cursor.execute(statement, parameters, prepare=False)
