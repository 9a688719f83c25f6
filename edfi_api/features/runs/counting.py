"""Answered requests → counts by client and minute.

The thread that adds requests to the metrics of a process calls `count` with those of the last tenth of a second; a
request itself does nothing for it. Another thread writes what has changed every two seconds. A row has all that this
process has counted for a client in a minute, and is written again as a whole, so that a write may be repeated.
"""

import atexit
import logging
import threading
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import parse_qsl
from uuid import UUID, uuid4

import orjson
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.common.back_off import BackOff
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.databases import own_connection
from edfi_api.core.queries.parameters import is_natural_number
from edfi_api.core.queries.selection import LAST_VERSION
from edfi_api.core.storage.driver.sql import statements_of
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.refusals.occurrences import cause_of, cause_of_problem, problem_type
from edfi_api.features.runs.counts import Counts, Reads, Refused
from edfi_api.web.answered_requests import AnsweredRequest, DocumentsRead
from edfi_api.web.batch.record import BatchFigures
from edfi_api.web.write_recorder import RefusedWrite

_DATA, _BATCH = "data", "batch"
# Views whose requests are counted as others; only of clients with a valid token. Those of `/submissions` are not: who
# looks at a report does not go on with the run.
_OTHERS = frozenset({"available-change-versions", "relations", "history"})
_DONE: Mapping[object, str] = {
    Outcome.INSERTED: "created",
    Outcome.UPDATED: "changed",
    Outcome.UNCHANGED: "unchanged",
    Outcome.DELETED: "deleted",
}
_WRITES = frozenset({"POST", "PUT", "DELETE", "PATCH"})
_OPERATIONS = {"POST": "upsert", "PUT": "update", "DELETE": "delete", "GET": "read", "HEAD": "read"}
_SECONDS_BETWEEN_WRITES = 2.0
_LONGEST_PAUSE = 60.0
_SECONDS_AT_EXIT = 2.0
# More clients and minutes than a process has between two writes; the rest is lost while the database is away for long.
_MOST_MINUTES = 5_000
_WRITE = statements_of(__file__)("write_minutes")
_log = logging.getLogger(__name__)


class Key(NamedTuple):
    """A client by its key, a data store (0 for the admin database), and a minute since 1970."""

    client: str
    data_store: int
    minute: int


class _Minute:
    """The counts of one row."""

    def __init__(self, at: float) -> None:
        self.counts = Counts()
        self.first_at = self.last_at = at
        self.is_written = False


class RunCounter:
    """The counts of a process; methods may be called by any thread."""

    def __init__(self) -> None:
        self._process: UUID | None = None
        self._minutes: dict[Key, _Minute] = {}
        self._lock = threading.Lock()
        self._wake, self._end = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def count(self, requests: Iterable[AnsweredRequest]) -> None:
        """Count requests that have just been answered."""
        if not api_settings.RUN_DAYS:
            return
        at = time.time()
        with self._lock:
            for each in requests:
                kind = _kind(each)
                if each.client is not None and kind:
                    self._count(self._minute(each.client, each.store or 0, at), kind, each)
        self._begin()

    def count_batch(self, batch: BatchFigures) -> None:
        """Count the operations of a batch; of one that was rolled back those that were refused."""
        client: str | None = getattr(batch.request, "client_key", None)
        if not api_settings.RUN_DAYS or client is None:
            return
        with self._lock:
            minute = self._minute(client, getattr(batch.request, "data_store", None) or 0, time.time())
            for (operation, resource, status), number in batch.results.items():
                if status < 400 and not batch.is_rolled_back:
                    minute.counts.writes[resource, _done(operation, status)] += number
            if not batch.is_rolled_back:
                for resource, number in batch.unchanged.items():
                    minute.counts.writes[resource, "changed"] -= number
                    minute.counts.writes[resource, "unchanged"] += number
            for number, refused in batch.refusals.values():
                minute.counts.refuse(_refusal(refused), number)
        self._begin()

    def write(self, connection: BaseDatabaseWrapper) -> None:
        """Write what has changed. Raises errors of the database; then it is written the next time."""
        with self._lock:
            self._process = self._process or uuid4()
            changed = {key: each for key, each in self._minutes.items() if not each.is_written}
            rows = [self._row(key, each) for key, each in changed.items()]
            for each in changed.values():
                each.is_written = True
        try:
            if rows:
                with connection.cursor() as cursor:
                    cursor.execute(_WRITE.text, {"rows": orjson.dumps(rows).decode()})
        except (DatabaseError, InterfaceError):
            for each in changed.values():
                each.is_written = False
            raise
        self._forget()

    def close(self) -> None:
        """Write what is not written yet, within two seconds."""
        self._end.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_SECONDS_AT_EXIT)

    def _minute(self, client: str, data_store: int, at: float) -> _Minute:
        key = Key(client, data_store, int(at) // 60)
        minute = self._minutes.get(key)
        if minute is None:
            minute = self._minutes[key] = _Minute(at)
            if len(self._minutes) > _MOST_MINUTES:
                del self._minutes[next(iter(self._minutes))]
        minute.last_at, minute.is_written = at, False
        return minute

    def _count(self, minute: _Minute, kind: str, each: AnsweredRequest) -> None:
        counts, done = minute.counts, each.done
        counts.count_request(kind, each.status, each.seconds)
        if each.status >= 400:
            counts.refuse(_refusal_of(each))
        elif kind == "write":
            counts.writes[each.route, _DONE.get(done, "changed")] += 1
        elif kind == "read":
            counts.read(*_read(each))

    def _row(self, key: Key, minute: _Minute) -> dict[str, Any]:
        return {
            "client": key.client,
            "data_store": key.data_store,
            "minute": datetime.fromtimestamp(key.minute * 60, UTC),
            "process": self._process,
            "first_at": datetime.fromtimestamp(minute.first_at, UTC),
            "last_at": datetime.fromtimestamp(minute.last_at, UTC),
            "counts": minute.counts.as_json(),
        }

    def _forget(self) -> None:
        """Drop the minutes that are over and written."""
        last = int(time.time()) // 60 - 1
        with self._lock:
            for key in [key for key, each in self._minutes.items() if each.is_written and key.minute < last]:
                del self._minutes[key]

    def _begin(self) -> None:
        """The thread starts with the first request, so after the process has forked."""
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="runs", daemon=True)
                    self._thread.start()
        self._wake.set()

    def _run(self) -> None:
        back_off = BackOff(2 * _SECONDS_BETWEEN_WRITES, _LONGEST_PAUSE)
        connection, pause = own_connection(DEFAULT_DB_ALIAS, "meadowlark-runs"), _SECONDS_BETWEEN_WRITES
        while not self._end.is_set():
            if not self._wake.wait(_LONGEST_PAUSE):
                connection.close()
                self._wake.wait()
            self._end.wait(pause)
            self._wake.clear()
            try:
                self.write(connection)
                pause = _SECONDS_BETWEEN_WRITES
                back_off.reset()
            except (DatabaseError, InterfaceError) as error:
                _log.warning("what clients do cannot be recorded now: %s", " ".join(str(error).split()))
                connection.close()
                pause = back_off.pause()
                self._wake.set()
            except Exception:  # The thread must outlive a bug; requests do not depend on it.
                _log.exception("what clients do was not recorded")
        connection.close()


def _kind(request: AnsweredRequest) -> str:
    if request.view == _DATA:
        return "write" if request.method in _WRITES else "read"
    return "batch" if request.view == _BATCH else "other" if request.view in _OTHERS else ""


def _done(operation: str, status: int) -> str:
    return "created" if status == 201 else "deleted" if operation == "delete" else "changed"


def _read(request: AnsweredRequest) -> tuple[str, str, Reads]:
    """The resource, what was read of it, and how much."""
    done = request.done
    if not isinstance(done, DocumentsRead) or request.method == "HEAD":
        return request.route, "no documents", Reads(1)
    if done.what == "document":
        return request.route, done.what, Reads(1, done.documents, done.size)
    return request.route, done.what, Reads(1, done.documents, done.size, 1, *_window(done.query))


def _window(query: str) -> tuple[int | None, int | None]:
    """The window of change versions, as far as it was requested."""
    if "changeversion" not in query.lower():
        return None, None
    given = {name.lower(): value.strip() for name, value in parse_qsl(query)}
    found = [given.get(name, "") for name in ("minchangeversion", "maxchangeversion")]
    first, last = (int(text) if is_natural_number(text, LAST_VERSION) else None for text in found)
    return first, last


def _refusal_of(request: AnsweredRequest) -> Refused:
    done = request.done
    if isinstance(done, RefusedWrite):
        return _refusal(done)
    problem = done if isinstance(done, dict) else {}
    type_ = problem_type(problem)
    operation = _OPERATIONS.get(request.method, request.method)
    return Refused(request.route, operation, request.status, type_, cause_of_problem(problem, type_))


def _refusal(refused: RefusedWrite) -> Refused:
    type_ = problem_type(refused.problem)
    cause = cause_of(refused, type_).text
    text = cause if cause != type_ else cause_of_problem(refused.problem, type_)
    return Refused(refused.resource, refused.operation, int(refused.problem.get("status", 0)), type_, text)


run_counter = RunCounter()
# Before the thread that counts requests registers its own, so that the last ones have been counted when this runs.
atexit.register(run_counter.close)
