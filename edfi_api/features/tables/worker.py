"""The thread of a process that loads tables: it starts with the first one, and ends when none is waiting."""

import logging
import threading

from django.db import DatabaseError, InterfaceError, connections

from edfi_api.features.tables import jobs

_log = logging.getLogger(__name__)


class Worker:
    """Loads what is waiting, one table after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_wanted = False

    def wake(self) -> None:
        """Load what is waiting, in a thread of this process."""
        with self._lock:
            self._is_wanted = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tables", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while self._is_still_wanted():
            try:
                while jobs.run_next():
                    pass
            except (DatabaseError, InterfaceError):
                _log.exception("tables cannot be loaded now")
            finally:
                connections.close_all()

    def _is_still_wanted(self) -> bool:
        with self._lock:
            wanted, self._is_wanted = self._is_wanted, False
            if not wanted:
                self._thread = None
            return wanted


worker = Worker()
