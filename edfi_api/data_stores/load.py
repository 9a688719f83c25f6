"""Keeps a slow database from occupying all threads of a process."""

import time

from edfi_api.conf import api_settings

from .exceptions import DataStoreUnavailable

# Requests that are quicker are never limited, however many there are.
_SECONDS = 1.0
_RETRY_AFTER = 1


class Load:
    """The requests under way on one database in this process. Each access is a single dictionary operation, so threads
    need no lock; two that begin at the same time may both be let in."""

    def __init__(self, _using: str) -> None:
        self._begun: dict[int, float] = {}

    def check(self) -> None:
        """Raises DataStoreUnavailable while too many requests have been under way for too long."""
        most = max(1, int(api_settings.STORE_SHARE * api_settings.THREADS))
        if len(self._begun) < most:
            return
        late = time.monotonic() - _SECONDS
        if sum(begun < late for begun in list(self._begun.values())) >= most:
            raise DataStoreUnavailable(_RETRY_AFTER, "busy")

    def begin(self, request: object) -> None:
        self._begun[id(request)] = time.monotonic()

    def end(self, request: object) -> None:
        self._begun.pop(id(request), None)
