"""How many batches a process executes at once, and how many of one client."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from edfi_api.conf import api_settings
from edfi_api.problem_details.http_exceptions import TooManyBatches
from edfi_api.security.exceptions import TooManyRequests

_RETRY_AFTER_SECONDS = 1


class _UnderWay:
    """The batches of this process, by client."""

    def __init__(self) -> None:
        self._by_client: Counter[int] = Counter()
        self._lock = Lock()

    def begin(self, client: int) -> None:
        with self._lock:
            if self._by_client.total() >= api_settings.BATCHES_AT_ONCE:
                raise TooManyBatches
            if self._by_client[client] >= api_settings.BATCHES_PER_CLIENT:
                raise TooManyRequests(_RETRY_AFTER_SECONDS)
            self._by_client[client] += 1

    def end(self, client: int) -> None:
        with self._lock:
            self._by_client[client] -= 1
            self._by_client += Counter()  # Drops clients without batches.


_under_way = _UnderWay()


@contextmanager
def admitted(client: int) -> Iterator[None]:
    """Counts a batch of the client with this row id while it is executed. Raises TooManyBatches, TooManyRequests."""
    _under_way.begin(client)
    try:
        yield
    finally:
        _under_way.end(client)
