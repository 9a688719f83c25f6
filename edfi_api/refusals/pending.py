"""What requests have left for the recorder's thread: a bounded queue of writes, and counts by hour."""

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from edfi_api.refusals.observed import AcceptedWrite, RefusedWrite

MOST_WRITES = 10_000
MOST_BYTES = 32 * 2**20
_SECONDS_OF_AN_HOUR = 3600

Write = RefusedWrite | AcceptedWrite


@dataclass(slots=True)
class _Hour:
    accepted: int = 0
    refused: int = 0
    last_accepted_at: float | None = None
    last_refused_at: float | None = None


class Pending:
    """Methods may be called by any thread; none blocks for longer than another's append."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writes: deque[Write] = deque()
        self._bytes = 0
        self._hours: dict[tuple[int, int, str, int], _Hour] = {}

    def __bool__(self) -> bool:
        return bool(self._writes or self._hours)

    def append(self, write: Write, size: int = 0) -> bool:
        """Whether there was room for it."""
        with self._lock:
            if len(self._writes) >= MOST_WRITES or self._bytes + size > MOST_BYTES:
                return False
            self._writes.append(write)
            self._bytes += size
            return True

    def count_accepted(self, client: int, data_store: int, resource: str, at: float) -> None:
        with self._lock:
            hour = self._hour(client, data_store, resource, at)
            hour.accepted += 1
            hour.last_accepted_at = at

    def count_refused(self, writes: Iterable[RefusedWrite]) -> None:
        """Those of unknown resources are counted together."""
        with self._lock:
            for write in writes:
                hour = self._hour(write.client, write.data_store, write.resource if write.preparer else "", write.at)
                hour.refused += 1
                hour.last_refused_at = write.at

    def taken_writes(self) -> list[Write]:
        """All writes in the queue, which is empty afterwards."""
        with self._lock:
            writes, self._writes, self._bytes = list(self._writes), deque(), 0
        return writes

    def put_back(self, writes: list[Write]) -> int:
        """Writes that could not be recorded go to the front; the oldest are lost if there is no room. Returns how many
        are lost."""
        with self._lock:
            room = max(0, MOST_WRITES - len(self._writes))
            kept = writes[len(writes) - room :] if room < len(writes) else writes
            self._writes.extendleft(reversed(kept))
            self._bytes = min(MOST_BYTES, sum(each.size for each in self._writes if isinstance(each, RefusedWrite)))
        return len(writes) - len(kept)

    def taken_hours(self) -> list[dict[str, Any]]:
        """The counts as rows of `submission_hour`; none are left."""
        with self._lock:
            hours, self._hours = self._hours, {}
        return [
            {
                "client": client,
                "data_store": data_store,
                "resource": resource,
                "hour": number * _SECONDS_OF_AN_HOUR,
                "accepted": hour.accepted,
                "refused": hour.refused,
                "last_accepted_at": hour.last_accepted_at,
                "last_refused_at": hour.last_refused_at,
            }
            for (client, data_store, resource, number), hour in hours.items()
        ]

    def _hour(self, client: int, data_store: int, resource: str, at: float) -> _Hour:
        key = (client, data_store, resource, int(at) // _SECONDS_OF_AN_HOUR)
        hour = self._hours.get(key)
        if hour is None:
            hour = self._hours[key] = _Hour()
        return hour
