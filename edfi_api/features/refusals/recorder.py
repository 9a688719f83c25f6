"""The recorder of writes of a process: requests append to `Pending`, one thread writes it to the ledger.

A write that succeeds costs an entry of a dictionary, and a lookup in the set of what has open entries. The thread
starts at the first write, so after the process has forked, and closes its connection after a minute without any. Each
second it writes the queue, every ten seconds the counts by hour, and each minute it looks for later writes that resolve
entries.
"""

import atexit
import logging
import threading
import time
from collections.abc import Iterable
from contextlib import suppress

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.common.back_off import BackOff
from edfi_api.core.data_stores.databases import alias_of, own_connection
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.features.refusals import metrics
from edfi_api.features.refusals.later_writes import DEFAULT_STORE, LaterWrites
from edfi_api.features.refusals.ledger import Ledger, Resolving
from edfi_api.features.refusals.pending import Pending, rows_of
from edfi_api.web.write_recorder import ACCEPTED_WITH_WARNINGS, AcceptedWrite, RefusedWrite

_SECONDS_BETWEEN_FLUSHES = 1.0
_SECONDS_BETWEEN_COUNTS = 10.0
_SECONDS_BETWEEN_LOOKS = 60.0
# Between the note of a version and the look at the changes up to it: a flush and more.
_SECONDS_TO_RECORD = 3.0
_SECONDS_UNTIL_IDLE = 60.0
_SECONDS_AT_EXIT = 2.0
_LONGEST_PAUSE = 30.0

# Client, data store and path of the resource of open entries.
Awaited = set[tuple[int, int, str]]

_log = logging.getLogger(__name__)


class Recorder:
    """Implements `WriteRecorder`."""

    def __init__(self) -> None:
        self.pending = Pending()
        # Replaced by the thread. None until it has been read after an idle time: until then every success may resolve
        # something.
        self._awaited: Awaited | None = None
        self._wake = threading.Event()
        self._end = threading.Event()
        self._start_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_idle = True

    def record_refused(self, write: RefusedWrite) -> None:
        if not self.pending.refuse(write):
            metrics.DROPPED.inc()
            return
        if (awaited := self._awaited) is not None:
            awaited.add((write.client, write.data_store, write.resource))
        if self._is_idle:
            self._resume()

    def count_accepted(self, client: int, data_store: int, resource: str, at: float) -> bool:
        self.pending.count_accepted(client, data_store, resource, at)
        if self._is_idle:
            self._resume()
        awaited = self._awaited
        return awaited is None or (client, data_store, resource) in awaited

    def record_accepted(self, write: AcceptedWrite) -> None:
        self.pending.accept(write)

    def close(self) -> None:
        """Write what is pending, within two seconds."""
        self._end.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_SECONDS_AT_EXIT)

    def _resume(self) -> None:
        with self._start_lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="refusals", daemon=True)
                self._thread.start()
                atexit.register(self.close)
        self._wake.set()

    def _run(self) -> None:
        writer = LedgerWriter(self.pending)
        while not self._end.is_set():
            self._wake.wait()
            self._wake.clear()
            self._is_idle = False
            self._flush(writer)
            writer.close()
            self._awaited = None
            self._is_idle = True
            if self.pending:  # A request may have appended before it could see that the thread is idle.
                self._wake.set()

    def _flush(self, writer: "LedgerWriter") -> None:
        """Write until there has been nothing to do for a while, or the process ends."""
        last_write, pause = time.monotonic(), _SECONDS_BETWEEN_FLUSHES
        back_off = BackOff(2 * _SECONDS_BETWEEN_FLUSHES, _LONGEST_PAUSE)
        while time.monotonic() - last_write < _SECONDS_UNTIL_IDLE:
            is_end = self._end.wait(pause)
            if self.pending:
                last_write = time.monotonic()
            try:
                awaited = writer.flush(is_end=is_end)
                if awaited is not None:
                    self._awaited = awaited
                pause = _SECONDS_BETWEEN_FLUSHES
                back_off.reset()
            except (DatabaseError, InterfaceError) as error:
                _log.warning("refusals cannot be recorded now: %s", " ".join(str(error).split()))
                writer.close()
                pause = back_off.pause()
            except Exception:  # The thread must outlive a bug; requests do not depend on it.
                _log.exception("refusals were not recorded")
            if is_end:
                return


class LedgerWriter:
    """Belongs to one thread. `connection` is the one of the admin database to use; without it the writer opens its
    own, which it closes."""

    def __init__(self, pending: Pending, connection: BaseDatabaseWrapper | None = None) -> None:
        self._pending = pending
        self._given = connection
        self._counter = metrics.RefusalCounter()
        self._opened: dict[int, BaseDatabaseWrapper] = {}
        self._counted_at = 0.0
        self._noted_at = 0.0
        self._looks: list[LaterWrites] = []

    def flush(self, *, is_end: bool = False, is_now: bool = False) -> Awaited | None:
        """Write what is pending. Returns what has open entries, if it was read again. `is_end` leaves out the look at
        later writes, `is_now` does everything at once. Raises errors of the database; what is pending stays so."""
        ledger, now = Ledger(self._connection()), time.monotonic()
        self._write(ledger)
        if not (is_end or is_now or now - self._counted_at >= _SECONDS_BETWEEN_COUNTS):
            self._look_if_due(ledger, now)
            return None
        self._counted_at = now
        self._count_hours(ledger)
        if is_end:
            return None
        if is_now:
            self._note(ledger, now)
            self._look(ledger)
        elif now - self._noted_at >= _SECONDS_BETWEEN_LOOKS:
            self._note(ledger, now)
        return {each[:3] for each in ledger.awaiting()}

    def close(self) -> None:
        """Close the connections; the next flush opens them again."""
        for connection in self._opened.values():
            with suppress(DatabaseError, InterfaceError):
                connection.close()
        self._opened.clear()
        self._looks = []

    def _write(self, ledger: Ledger) -> None:
        parts = self._pending.take_parts()
        while parts:
            part = parts[0]
            refusals = list(part.refusals.values())
            try:
                with ledger.changes():
                    ledger.record(refusals)
                    ledger.resolve(_latest(part.accepted))
            except (OperationalError, InterfaceError):
                self._pending.put_back(parts)
                raise
            except Exception:
                metrics.DROPPED.inc(sum(each.count for each in refusals))
                self._pending.release(part)
                self._pending.put_back(parts[1:])
                raise
            self._pending.release(part)
            refused = [each for each in refusals if each.problem != ACCEPTED_WITH_WARNINGS]
            self._pending.count_refused(refused)
            for each in refused:
                self._counter.count(each)
            parts.pop(0)

    def _count_hours(self, ledger: Ledger) -> None:
        hours = self._pending.take_hours()
        try:
            if hours:
                ledger.count_hours(rows_of(hours))
        except (DatabaseError, InterfaceError):
            self._pending.put_back_hours(hours)
            raise

    def _look_if_due(self, ledger: Ledger, now: float) -> None:
        if self._looks and now - self._noted_at >= _SECONDS_TO_RECORD:
            self._look(ledger)

    def _note(self, ledger: Ledger, now: float) -> None:
        self._noted_at = now
        stores = {DEFAULT_STORE, *(data_store for _, data_store, *_ in ledger.awaiting())}
        self._looks = [
            LaterWrites(store, ledger, documents) for store in stores if (documents := self._documents(store))
        ]
        for look in self._looks:
            look.note()

    def _look(self, ledger: Ledger) -> None:
        looks, self._looks = self._looks, []
        awaiting = ledger.awaiting()
        for look in looks:
            look.look(awaiting)

    def _connection(self) -> BaseDatabaseWrapper:
        return self._given or self._open(DEFAULT_STORE, DEFAULT_DB_ALIAS)

    def _documents(self, data_store: int) -> BaseDatabaseWrapper | None:
        """A connection to the documents of a data store; None if it is not there any more."""
        if data_store == DEFAULT_STORE:
            return self._connection()
        store = routing_cache().table().stores.get(data_store)
        if store is None:
            return None
        with suppress(ConnectionUnusable, DatabaseError, InterfaceError):
            opened = self._open(data_store, alias_of(store.primary))
            opened.ensure_connection()
            return opened
        return None

    def _open(self, data_store: int, alias: str) -> BaseDatabaseWrapper:
        """Open a connection of Django's class, but none of the pool for requests."""
        if data_store not in self._opened:
            self._opened[data_store] = own_connection(alias, "meadowlark-refusals")
        return self._opened[data_store]


def _latest(writes: Iterable[AcceptedWrite]) -> Iterable[Resolving]:
    """The last write of each id."""
    found = {
        # The integer, because hashing and comparing UUIDs runs Python code.
        (write.client, write.data_store, id_.int): Resolving(
            write.client,
            write.data_store,
            id_,
            write.at,
            write.is_delete,
            write.batch,
            keeps=ACCEPTED_WITH_WARNINGS if write.has_warnings else None,
        )
        for write in writes
        for id_ in write.ids
    }
    return found.values()
