"""The statements that write the ledger, on a connection of its own.

Each change of the table is a transaction under one advisory lock, so that `sequence` appears in order: a client that
reads entries after the last `sequence` it has seen misses none.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.common.conf import api_settings
from edfi_api.core.storage.driver.sql import statements_of
from edfi_api.features.refusals.entries import Entry, entries_of, key_of, storable, summary_of, summary_of_problem
from edfi_api.features.refusals.occurrences import Refusals
from edfi_api.features.refusals.personal_data import kept_id

# A client with so many times the entries of `REFUSALS_PER_CLIENT` gets no further summaries by cause.
MOST_SUMMARIES = 2
_statement = statements_of(__file__)
_RECORD, _RESOLVE, _CAUSE_GONE = _statement("record"), _statement("resolve"), _statement("cause_gone")
_COUNT_HOURS, _AWAITING = _statement("count_hours"), _statement("awaiting")
_BEGIN = "SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtext('refusal'))"
_OPEN_OF = "SELECT client, sum(entries) FROM open_refusals WHERE client = ANY (%s) GROUP BY client"
_DISMISS = """
UPDATE refusal SET resolved_at = clock_timestamp(), resolution = 'dismissed', sequence = nextval('refusal_change')
 WHERE id = %s AND client = %s AND resolved_at IS NULL
"""
_KNOWN = """
SELECT client, subject, problem, data_store, resource, direction FROM refusal
 WHERE client = ANY (%s) AND subject = ANY (%s) AND resolved_at IS NULL
"""


def ledger_connection() -> BaseDatabaseWrapper:
    """Return this thread's connection to the admin database, which has the ledger."""
    return connections[DEFAULT_DB_ALIAS]


# Client, data store, path of the resource, and name of the awaited resource, if there is one.
Awaiting = tuple[int, int, str, str]


class Resolving(NamedTuple):
    """A write that resolves the entries of an id, referential or of the document, that occurred last before `at`, or
    as an earlier operation of the same batch; `batch` is its correlation id. Those of the problem `keeps` stay."""

    client: int
    data_store: int
    id: UUID
    at: float
    is_delete: bool
    batch: str = ""
    direction: str = "received"
    keeps: str | None = None


class Ledger:
    """The tables, over one connection, which the caller opens and closes."""

    def __init__(self, connection: BaseDatabaseWrapper) -> None:
        self._connection = connection

    @contextmanager
    def changes(self) -> Iterator[None]:
        """A transaction that changes entries. Its commit does not wait for the disk: the ledger is no audit, and a
        crash of the database server costs at most its last second."""
        self._connection.ensure_connection()
        with self._connection.wrap_database_errors, self._connection.connection.transaction():
            self._execute(_BEGIN)
            yield

    def record(self, refusals: Iterable[Refusals]) -> None:
        """Add or count up their entries."""
        if entries := self._bounded(entries_of(refusals)):
            self._execute(_RECORD.text, {"entries": _json(entries)})

    def resolve(self, writes: Iterable[Resolving]) -> None:
        """Resolve open entries."""
        rows = [
            {
                "client": write.client,
                "data_store": write.data_store,
                "direction": write.direction,
                "subject": kept_id(write.id),
                "at": write.at,
                "resolution": "deleted" if write.is_delete else "succeeded",
                "batch": storable(write.batch) or None,
                "keeps": write.keeps,
            }
            for write in writes
        ]
        if rows:
            self._execute(_RESOLVE.text, {"writes": _json(rows)})

    def mark_causes_gone(self, data_store: int, written: Iterable[UUID]) -> None:
        """Note that these documents have been written."""
        ids = [kept_id(id_) for id_ in written]
        if ids:
            self._execute(_CAUSE_GONE.text, {"written": ids, "data_store": data_store})

    def dismiss(self, client: int, refusal: UUID) -> None:
        """Close an entry for its client."""
        self._execute(_DISMISS, [refusal, client])

    def count_hours(self, hours: Sequence[dict[str, Any]]) -> None:
        self._execute(_COUNT_HOURS.text, {"hours": _json(hours)})

    def awaiting(self) -> list[Awaiting]:
        """Return of which clients and resources there are open entries."""
        return [row[:4] for row in self.rows(_AWAITING.text)]

    def rows(self, statement: str, parameters: Any = None) -> list[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())

    def _execute(self, statement: str, parameters: Any = None) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters)

    def _bounded(self, entries: list[Entry]) -> list[Entry]:
        """Return the entries with summaries in place of new entries of clients that have too many."""
        most = api_settings.REFUSALS_PER_CLIENT
        clients = list({entry["client"] for entry in entries})
        open_entries = dict(self.rows(_OPEN_OF, [clients]))
        full = {client for client, number in open_entries.items() if number >= most}
        if not full:
            return entries
        affected = [entry for entry in entries if entry["client"] in full]
        known = {tuple(row) for row in self.rows(_KNOWN, [list(full), [entry["subject"] for entry in affected]])}
        summaries: dict[tuple[Any, ...], Entry] = {}
        kept = []
        for entry in entries:
            if entry["client"] not in full or key_of(entry) in known:
                kept.append(entry)
                continue
            has_too_many = open_entries[entry["client"]] >= MOST_SUMMARIES * most
            summary = summary_of_problem(entry) if has_too_many else summary_of(entry)
            if earlier := summaries.get(key_of(summary)):
                summary |= {"count": earlier["count"] + entry["count"], "first_at": earlier["first_at"]}
            summaries[key_of(summary)] = summary
        return [*kept, *summaries.values()]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
