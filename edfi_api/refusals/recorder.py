"""The recorder of writes of a process: requests append to `Pending`, one thread writes it to the ledger.

A write that succeeds costs an entry of a dictionary, and a lookup in the set of what has open entries. The thread
starts at the first write, so after the process has forked, and closes its connection after a minute without any.
"""

import atexit
import logging
import threading
import time

from django.db import DatabaseError, InterfaceError

from edfi_api.refusals import metrics
from edfi_api.refusals.observed import AcceptedWrite, RefusedWrite
from edfi_api.refusals.pending import Pending
from edfi_api.refusals.recording import Recording

_SECONDS_BETWEEN_FLUSHES = 1.0
_SECONDS_UNTIL_IDLE = 60.0
_SECONDS_AT_EXIT = 2.0
_LONGEST_PAUSE = 30.0

_log = logging.getLogger(__name__)


class Recorder:
    """Implements `WriteRecorder`."""

    def __init__(self) -> None:
        self.pending = Pending()
        # Client, data store and path of the resource of open entries; replaced by the thread. None until it has been
        # read after an idle time: until then every success may resolve something.
        self._awaited: set[tuple[int, int, str]] | None = None
        self._wake = threading.Event()
        self._end = threading.Event()
        self._start_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_idle = True

    def refused(self, write: RefusedWrite) -> None:
        if not self.pending.refuse(write):
            metrics.DROPPED.inc()
            return
        if (awaited := self._awaited) is not None:
            awaited.add((write.client, write.data_store, write.resource))
        if self._is_idle:
            self._resume()

    def accepted(self, client: int, data_store: int, resource: str, at: float) -> bool:
        self.pending.count_accepted(client, data_store, resource, at)
        if self._is_idle:
            self._resume()
        awaited = self._awaited
        return awaited is None or (client, data_store, resource) in awaited

    def succeeded(self, write: AcceptedWrite) -> None:
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
        recording = Recording(self.pending)
        while not self._end.is_set():
            self._wake.wait()
            self._wake.clear()
            self._is_idle = False
            self._work(recording)
            recording.close()
            self._awaited = None
            self._is_idle = True
            if self.pending:  # A request may have appended before it could see that the thread is idle.
                self._wake.set()

    def _work(self, recording: Recording) -> None:
        """Until there has been nothing to do for a while, or the process ends."""
        last_write, pause = time.monotonic(), _SECONDS_BETWEEN_FLUSHES
        while time.monotonic() - last_write < _SECONDS_UNTIL_IDLE:
            is_end = self._end.wait(pause)
            if self.pending:
                last_write = time.monotonic()
            try:
                awaited = recording.flush(is_end=is_end)
                if awaited is not None:
                    self._awaited = awaited
                pause = _SECONDS_BETWEEN_FLUSHES
            except (DatabaseError, InterfaceError) as error:
                _log.warning("refusals cannot be recorded now: %s", " ".join(str(error).split()))
                recording.close()
                pause = min(2 * pause, _LONGEST_PAUSE)
            except Exception:  # The thread must outlive a bug; requests do not depend on it.
                _log.exception("refusals were not recorded")
            if is_end:
                return
