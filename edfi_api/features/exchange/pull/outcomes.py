"""What becomes of the documents of a window: counts, the ledger of refusals, and what is to be read again later.

Ids and refused documents of a window are on disk, so memory does not grow with it.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connections, transaction

from edfi_api.common.conf import api_settings
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.storage.sets import REFUSALS
from edfi_api.core.storage.stored import Outcome, referential_ids
from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.pull.tracked_keys import is_scalar
from edfi_api.features.exchange.remote_api import RemoteFailed, plain_id
from edfi_api.features.loading.bulk import Candidate, Written
from edfi_api.features.loading.bulk.candidates import Place
from edfi_api.features.loading.reports.report import RefusalLimit
from edfi_api.features.refusals.pending import Pending
from edfi_api.features.refusals.recorder import Awaited, LedgerWriter
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.web.problem_details.catalog import SYSTEM_ERROR, problem_of
from edfi_api.web.write_recorder import RECORDED, AcceptedWrite, RefusedWrite
from references.exceptions import UnresolvedReference

DELETED, KEY_CHANGED, REFUSED = "deleted", "key changed", "refused"
_AT_ONCE = 1_000
_MOST_DUE = 200
# A refused document is read again after 5 seconds, then after twice as long each time, up to an hour.
_FIRST_WAIT, _LONGEST_WAIT = 5, 3600

_SCHEMA = """
CREATE TABLE read (line INTEGER PRIMARY KEY, rank INTEGER, remote_id TEXT);
CREATE TABLE brought (own BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE refused (resource TEXT, remote_id TEXT, PRIMARY KEY (resource, remote_id));
CREATE TABLE refused_delete (document_uuid TEXT PRIMARY KEY, resource TEXT, remote_id TEXT);
CREATE TABLE again (line INTEGER PRIMARY KEY, rank INTEGER, text BLOB);
CREATE TABLE to_correct (line INTEGER PRIMARY KEY, rank INTEGER, text BLOB, problem BLOB);
"""
_MOVE = """
INSERT INTO exchange_position (connection, version) VALUES (%(connection)s, %(version)s)
ON CONFLICT (connection) DO UPDATE SET version = EXCLUDED.version, under_way = NULL, moved_at = now()
"""
_WAIT = """
INSERT INTO exchange_waiting AS w (connection, resource, remote_id, document_uuid, attempts, due_at)
SELECT %(connection)s, resource, remote_id, document_uuid, 1, now() + make_interval(secs => %(first)s)
  FROM unnest(%(resources)s::text[], %(ids)s::text[], %(uuids)s::uuid[]) AS r (resource, remote_id, document_uuid)
ON CONFLICT (connection, resource, remote_id, document_uuid) DO UPDATE
   SET attempts = w.attempts + 1,
       due_at = now() + make_interval(secs => least(%(first)s * 2 ^ least(w.attempts, 20), %(longest)s))
RETURNING attempts
"""
_NO_LONGER = """
DELETE FROM exchange_waiting w
 USING unnest(%(resources)s::text[], %(ids)s::text[], %(uuids)s::uuid[]) AS r (resource, remote_id, document_uuid)
 WHERE w.connection = %(connection)s AND w.resource = r.resource AND w.remote_id = r.remote_id
   AND w.document_uuid IS NOT DISTINCT FROM r.document_uuid
"""
_DUE = """
SELECT resource, remote_id, document_uuid FROM exchange_waiting
 WHERE connection = %(connection)s AND due_at <= now() ORDER BY due_at LIMIT %(most)s
"""
_IS_WAITED_FOR = "SELECT EXISTS (SELECT FROM exchange_waiting WHERE connection = %(connection)s)"
_WAITING_DELETES = """
SELECT resource, remote_id, document_uuid FROM exchange_waiting
 WHERE connection = %(connection)s AND document_uuid IS NOT NULL
"""
_POSITION = "SELECT version FROM exchange_position WHERE connection = %(connection)s"
_UNPIN = "DELETE FROM exchange_pinned WHERE connection = %(connection)s"
_BEGIN = """
INSERT INTO exchange_position AS p (connection, under_way) VALUES (%(connection)s, %(last)s)
ON CONFLICT (connection) DO UPDATE SET under_way = coalesce(p.under_way, EXCLUDED.under_way)
RETURNING under_way
"""

_log = logging.getLogger("meadowlark.exchange")


class TooManyRefused(Exception):
    """More documents were refused than `--max-refused` allows; the position stays where it is."""


class WaitingRow(NamedTuple):
    """A document that is to be read again; with `document_uuid` it is to be deleted here."""

    resource: str
    remote_id: str
    document_uuid: UUID | None


class DueDelete(NamedTuple):
    """A document here whose key the source no longer has; `remote_id` is that of the document that had it there."""

    resource: Resource
    remote_id: str
    document_uuid: UUID


class WindowMemory(TemporaryDatabase):
    """The documents that were read in one window, by the number of its line."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)

    def read(self, rows: Iterable[tuple[int, int, str]]) -> None:
        """Line, rank of the resource, and id at the source."""
        self._database.executemany("INSERT INTO read VALUES (?, ?, ?)", rows)

    def remote_id(self, line: int) -> str:
        found = self._database.execute("SELECT remote_id FROM read WHERE line = ?", (line,)).fetchone()
        return str(found[0]) if found else ""

    def note_read(self, own: bytes) -> None:
        """Note that the document with this referential id was among those that were read."""
        self._database.execute("INSERT OR IGNORE INTO brought VALUES (?)", (own,))

    def has_brought(self, own: bytes) -> bool:
        return self._database.execute("SELECT 1 FROM brought WHERE own = ?", (own,)).fetchone() is not None

    def refuse(self, resource: str, remote_id: str) -> None:
        """The document is to be read again, if it has an id by which it can be."""
        if not remote_id:
            return
        self._database.execute("INSERT OR IGNORE INTO refused VALUES (?, ?)", (resource, remote_id))

    def refuse_delete(self, document_uuid: UUID, resource: str, remote_id: str) -> None:
        values = (str(document_uuid), resource, remote_id)
        self._database.execute("INSERT OR IGNORE INTO refused_delete VALUES (?, ?, ?)", values)

    def refused(self) -> Iterator[Sequence[WaitingRow]]:
        """Documents and deletes."""
        documents = "SELECT resource, remote_id, NULL FROM refused"
        deletes = "SELECT resource, remote_id, document_uuid FROM refused_delete"
        for part in _parts(self._database.execute(f"{documents} UNION ALL {deletes}")):
            yield [WaitingRow(resource, id_, UUID(uuid) if uuid else None) for resource, id_, uuid in part]

    def accepted(self, paths: Sequence[str]) -> Iterator[Sequence[WaitingRow]]:
        """All documents that were read and not refused."""
        rows = self._database.execute("SELECT rank, remote_id FROM read")
        known = self._database.execute
        for part in _parts(rows):
            pairs = [(paths[rank], remote_id) for rank, remote_id in part]
            refused = "SELECT 1 FROM refused WHERE resource = ? AND remote_id = ?"
            yield [WaitingRow(*pair, None) for pair in pairs if known(refused, pair).fetchone() is None]

    def keep_for_another_try(self, line: int, rank: int, text: bytes) -> None:
        self._database.execute("INSERT OR REPLACE INTO again VALUES (?, ?, ?)", (line, rank, text))

    def take_for_another_try(self) -> Iterator[tuple[int, int, bytes]]:
        """Line, rank and text, in the order in which they were read; they are kept no longer."""
        rows = self._database.execute("SELECT * FROM again ORDER BY line").fetchall()
        self._database.execute("DELETE FROM again")
        return iter(rows)

    def keep_to_mend(self, line: int, rank: int, text: bytes, problem: bytes) -> None:
        self._database.execute("INSERT OR REPLACE INTO to_correct VALUES (?, ?, ?, ?)", (line, rank, text, problem))

    def take_to_correct(self) -> Iterator[tuple[int, int, bytes, bytes]]:
        """Line, rank, text and problem of documents that were refused; none are left."""
        while rows := self._database.execute("SELECT * FROM to_correct ORDER BY line LIMIT ?", (_AT_ONCE,)).fetchall():
            self._database.execute("DELETE FROM to_correct WHERE line <= ?", (rows[-1][0],))
            yield from rows


@dataclass(slots=True)
class Outcomes:
    """The outcomes of one window; `counts` by path of the resource and outcome."""

    connection: Connection
    surface: Surface
    validators: DocumentValidators
    using: str
    memory: WindowMemory
    limit: RefusalLimit | None = None
    is_dry_run: bool = False
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    # Without what was refused before, too, and was only read again.
    newly_refused: int = 0
    _pending: Pending = field(default_factory=Pending)
    _awaited: Awaited | None = None
    _began: float = field(default_factory=time.time)

    def total(self, outcome: str) -> int:
        return sum(count for (_, found), count in self.counts.items() if found == outcome)

    @property
    def sent(self) -> int:
        return self.counts.total()

    def has_brought(self, referential_id: UUID) -> bool:
        return self.memory.has_brought(referential_id.bytes)

    def take(self, written: Written[Place]) -> None:
        """Count the result of a document and record it."""
        resource, result = written.candidate.resource, written.result
        if written.aliases:
            self.memory.note_read(written.aliases[0])
        elif (body := _body(written.candidate)) is not None:
            for id_ in self.validators[resource.name].aliases_of_refused(body)[:1]:
                self.memory.note_read(id_.bytes)
        if isinstance(result, Outcome):
            self.counts[resource.url_path, result.value] += 1
            if result is not Outcome.UNCHANGED:
                self._record_accepted(resource, tuple(UUID(bytes=alias) for alias in written.aliases))
            return
        self.memory.refuse(_path(resource), self.memory.remote_id(written.candidate.origin.line))
        self._record_refused(resource, "upsert", result, candidate=written.candidate)

    def count_deleted(self, ids: Collection[UUID]) -> None:
        self.counts["", DELETED] += len(ids)

    def count_changed_key(self) -> None:
        self.counts["", KEY_CHANGED] += 1

    def record_refused_delete(self, due: DueDelete, refusal: Exception) -> None:
        self.memory.refuse_delete(due.document_uuid, _path(due.resource), due.remote_id)
        self._record_refused(due.resource, "delete", refusal, document_uuid=due.document_uuid)

    def record_unreadable(
        self, resource: Resource, operation: str, listed: Mapping[str, Any], refusal: DataValidationFailed
    ) -> None:
        """Record a delete or key change that the source lists without a whole key. Raises RemoteFailed, so that the
        position stays, if there is no ledger to keep it in."""
        paths = ", ".join(each.path for each in refusal.violations)
        kind = "delete" if operation == "delete" else "change of a key"
        said = (
            f"it lists a {kind} of {_path(resource)} without {paths}: {plain_id(listed.get('id')) or 'without an id'}"
        )
        if not api_settings.WRITE_RECORDER:
            raise RemoteFailed(f"{said}, and the ledger of refusals is off, where it would be kept")
        _log.warning("connection %s: %s", self.connection, said)
        values = listed.get("keyValues" if operation == "delete" else "oldKeyValues")
        sent = values if isinstance(values, dict) else {}
        self._record_refused(
            resource, operation, refusal, sent={name: each for name, each in sent.items() if is_scalar(each)}
        )

    def check_limit(self) -> None:
        """Raises TooManyRefused."""
        if self.limit is not None and not self.limit.allows(self.total(REFUSED), self.sent):
            raise TooManyRefused(f"{self.total(REFUSED):,} of {self.sent:,} documents were refused")

    def write_ledger(self) -> None:
        """Write what was refused and what that resolves into the ledger."""
        if not api_settings.WRITE_RECORDER or self.is_dry_run:
            return
        writer = LedgerWriter(self._pending)
        try:
            self._awaited = writer.flush(is_now=True)
        finally:
            writer.close()

    def finish(self, version: int | None) -> None:
        """Move the position, and keep what is to be read again, in one transaction. Its commit is on disk only if all
        that the window has written is."""
        connection = self.connection.pk
        with transaction.atomic(self.using), connections[self.using].cursor() as cursor:
            cursor.execute(_IS_WAITED_FOR, {"connection": connection})
            if cursor.fetchone()[0]:
                for part in self.memory.accepted([_path(each) for each in self.surface.resources]):
                    self._delete_waiting(cursor, part)
                self._delete_waiting(cursor, self._ended_deletes(cursor))
            for refused in self.memory.refused():
                pauses = {"first": _FIRST_WAIT, "longest": _LONGEST_WAIT}
                cursor.execute(_WAIT, {"connection": connection, **_columns(refused), **pauses})
                self.newly_refused += sum(attempts == 1 for (attempts,) in cursor.fetchall())
            if version is not None:
                cursor.execute(_MOVE, {"connection": connection, "version": version})
                cursor.execute(_UNPIN, {"connection": connection})

    def forget_gone(self, rows: Iterable[WaitingRow]) -> None:
        """Forget what was to be read again and is no longer there, or no longer chosen."""
        with connections[self.using].cursor() as cursor:
            self._delete_waiting(cursor, list(rows))

    def _ended_deletes(self, cursor: Any) -> list[WaitingRow]:
        """Deletes that wait, of documents that are gone, or whose keys the source has again: a later delete would be
        another one."""
        cursor.execute(_WAITING_DELETES, {"connection": self.connection.pk})
        rows = [WaitingRow(*row) for row in cursor.fetchall()]
        keys = referential_ids([row.document_uuid for row in rows if row.document_uuid], self.using)
        return [
            row for row in rows if row.document_uuid not in keys or any(map(self.has_brought, keys[row.document_uuid]))
        ]

    def _delete_waiting(self, cursor: Any, rows: Sequence[WaitingRow]) -> None:
        if rows:
            cursor.execute(_NO_LONGER, {"connection": self.connection.pk, **_columns(rows)})

    def _record_accepted(self, resource: Resource, ids: tuple[UUID, ...]) -> None:
        client, store = self.connection.api_client_id, self.connection.data_store_id or 0
        self._pending.count_accepted(client, store, resource.url_path, time.time())
        if self._awaited is None or (client, store, resource.url_path) in self._awaited:
            write = AcceptedWrite(client, store, resource.url_path, ids, self._began)
            if not self._pending.accept(write):
                self.write_ledger()
                self._pending.accept(write)

    def _record_refused(
        self,
        resource: Resource,
        operation: str,
        refusal: Exception,
        *,
        candidate: Candidate[Any] | None = None,
        document_uuid: UUID | None = None,
        sent: dict[str, Any] | None = None,
    ) -> None:
        self.counts[resource.url_path, REFUSED] += 1
        if sent is not None:
            self.newly_refused += 1  # It does not wait.
        if self.limit is not None and not self.limit.is_percentage:
            self.check_limit()
        problem = problem_of(refusal)
        if problem is None:
            _log.error("connection %s: a document failed", self.connection, exc_info=refusal)
            problem = SYSTEM_ERROR
        if problem.status not in RECORDED or self.is_dry_run:
            return
        write = RefusedWrite(
            client=self.connection.api_client_id,
            data_store=self.connection.data_store_id or 0,
            resource=resource.url_path,
            validator=self.validators[resource.name],
            operation=operation,
            problem=problem.body(""),
            at=time.time(),
            size=len(candidate.text) if candidate else 0,
            document_uuid=document_uuid,
            sent=_body(candidate) if sent is None else sent,
            missing=(*refusal.descriptors, *refusal.documents)[:1] if isinstance(refusal, UnresolvedReference) else (),
        )
        if not self._pending.refuse(write):
            self.write_ledger()
            self._pending.refuse(write)


def position_of(connection: Connection, using: str) -> int | None:
    """The version that is done; None before the first window."""
    with connections[using].cursor() as cursor:
        cursor.execute(_POSITION, {"connection": connection.pk})
        found = cursor.fetchone()
    return None if found is None else found[0]


def begin_window(connection: Connection, using: str, last: int) -> int:
    """The end of the window that begins after the position: `last`, or that of one that was interrupted."""
    with connections[using].cursor() as cursor:
        cursor.execute(_BEGIN, {"connection": connection.pk, "last": last})
        return int(cursor.fetchone()[0])


def set_position(connection: Connection, using: str, version: int) -> None:
    """Go on after this version, whatever was done before; a window that was interrupted is forgotten."""
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute(_MOVE, {"connection": connection.pk, "version": version})
        cursor.execute(_UNPIN, {"connection": connection.pk})


def unpin(connection: Connection, using: str) -> None:
    """Forget what an interrupted window has found out: it does not go on."""
    with connections[using].cursor() as cursor:
        cursor.execute(_UNPIN, {"connection": connection.pk})


def due_rows(connection: Connection, using: str) -> list[WaitingRow]:
    """Some of what is to be read again now."""
    with connections[using].cursor() as cursor:
        cursor.execute(_DUE, {"connection": connection.pk, "most": _MOST_DUE})
        return [WaitingRow(*row) for row in cursor.fetchall()]


def _columns(rows: Sequence[WaitingRow]) -> dict[str, list[Any]]:
    resources, ids, uuids = zip(*rows, strict=True)
    return {"resources": list(resources), "ids": list(ids), "uuids": list(uuids)}


def _parts(rows: Iterable[Any]) -> Iterator[list[Any]]:
    remaining = iter(rows)
    while part := list(islice(remaining, _AT_ONCE)):
        yield part


def _path(resource: Resource) -> str:
    return resource.url_path.strip("/")


def _body(candidate: Candidate[Any] | None) -> dict[str, Any] | None:
    try:
        return None if candidate is None else candidate.body
    except REFUSALS:
        return None
