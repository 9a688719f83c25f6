"""What requests have left for the recorder's thread: a bounded number of writes, and counts by hour."""

import threading
from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from edfi_api.common.conf import api_settings
from edfi_api.common.memory import cost_of_json
from edfi_api.core.documents import json_text
from edfi_api.features.refusals.entries import subjects
from edfi_api.features.refusals.occurrences import Refusals, group_of, problem_type
from edfi_api.web.write_recorder import AcceptedWrite, RefusedWrite

MOST_WRITES = 10_000
MOST_BYTES = 32 * 2**20
_SECONDS_OF_AN_HOUR = 3600
_NONE: Set[UUID] = frozenset()


@dataclass(slots=True)
class Part:
    """Writes that can be recorded, and then resolved: a refusal after a success of the same document begins a new
    entry, and is in a later part. `succeeded` are the ids of accepted documents by client, data store and resource,
    `writes` is how many writes are kept, and `size` the estimated bytes of memory that they keep."""

    refusals: dict[Hashable, Refusals] = field(default_factory=dict)
    accepted: list[AcceptedWrite] = field(default_factory=list)
    writes: int = 0
    size: int = 0
    succeeded: dict[tuple[int, int, str], set[UUID]] = field(default_factory=dict)

    def count_if_many(self, group: Hashable, at: float) -> bool:
        """Count a refused write of this group, if it has so many that nothing else is kept of further ones. Returns
        whether that is so."""
        refusals = self.refusals.get(group)
        return refusals is not None and refusals.count_other(at)

    def accept(self, write: AcceptedWrite) -> None:
        self.accepted.append(write)
        self.succeeded.setdefault(write[:3], set()).update(write.ids)


@dataclass(slots=True)
class _Hour:
    """Writes, and when the last began or was answered, 0 if there was none."""

    accepted: int = 0
    refused: int = 0
    last_accepted_at: float = 0.0
    last_refused_at: float = 0.0

    def add(self, other: "_Hour") -> None:
        self.accepted += other.accepted
        self.refused += other.refused
        self.last_accepted_at = max(self.last_accepted_at, other.last_accepted_at)
        self.last_refused_at = max(self.last_refused_at, other.last_refused_at)


# Writes by client, data store, path of the resource, and number of the hour since 1970.
Hours = dict[tuple[int, int, str, int], _Hour]


class Pending:
    """Methods may be called by any thread; none blocks for longer than another's append."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: list[Part] = []
        # The writes of all parts, also of those that were taken and are not released.
        self._writes = 0
        self._bytes = 0
        self._hours: Hours = {}

    def __bool__(self) -> bool:
        return bool(self._parts or self._hours)

    def refuse(self, write: RefusedWrite) -> bool:
        """Keep or count a refused write; return whether there was room for it."""
        group = group_of(write)
        with self._lock:
            if self._parts and self._parts[-1].count_if_many(group, write.at):
                return True
        succeeded = self._succeeded(write)
        ids = subjects(write) if succeeded else ()
        with self._lock:
            part = self._parts[-1] if self._parts and succeeded.isdisjoint(ids) else Part()
            return self._keep(part, group, write)

    def _keep(self, part: Part, group: Hashable, write: RefusedWrite) -> bool:
        """Keep a refused write, if there is room, in place of another one if its group has many. False without room."""
        refusals = part.refusals.get(group) or Refusals(problem_type(write.problem), write)
        place = refusals.place_of(write, api_settings.REFUSALS_PER_SECOND)
        replaced = refusals.at(place)
        writes, size = (0, _size(write) - _size(replaced)) if replaced else (1, _size(write))
        if not self._reserve(part, writes, size):
            return False
        refusals.add(write, place)
        part.refusals[group] = refusals
        return True

    def accept(self, write: AcceptedWrite) -> bool:
        """Keep an accepted write; return whether there was room for it."""
        with self._lock:
            part = self._parts[-1] if self._parts else Part()
            if not self._reserve(part, 1, 0):
                return False
            part.accept(write)
        return True

    def count_accepted(self, client: int, data_store: int, resource: str, at: float) -> None:
        key = (client, data_store, resource, int(at) // _SECONDS_OF_AN_HOUR)
        with self._lock:
            hour = self._hours.get(key) or self._hours.setdefault(key, _Hour())
            hour.accepted += 1
            hour.last_accepted_at = max(hour.last_accepted_at, at)

    def count_refused(self, refusals: Iterable[Refusals]) -> None:
        """Count refusals in the hour of the latest. Those of unknown resources are counted together."""
        with self._lock:
            for each in refusals:
                write = each.write
                resource = write.resource if write.validator else ""
                number = int(each.last_at) // _SECONDS_OF_AN_HOUR
                hour = self._hours.setdefault((write.client, write.data_store, resource, number), _Hour())
                hour.refused += each.count
                hour.last_refused_at = max(hour.last_refused_at, each.last_at)

    def take_parts(self) -> list[Part]:
        """Take all parts, in their order. Each is to be released, or put back."""
        with self._lock:
            parts, self._parts = self._parts, []
        return parts

    def put_back(self, parts: list[Part]) -> None:
        """Put parts that could not be recorded before all others."""
        with self._lock:
            self._parts = parts + self._parts

    def release(self, part: Part) -> None:
        """Free the room that a part takes."""
        with self._lock:
            self._writes -= part.writes
            self._bytes -= part.size

    def take_hours(self) -> Hours:
        """Take the counts by hour."""
        with self._lock:
            hours, self._hours = self._hours, {}
        return hours

    def put_back_hours(self, hours: Hours) -> None:
        """Add counts that could not be recorded to those since."""
        with self._lock:
            for key, hour in hours.items():
                self._hours.setdefault(key, _Hour()).add(hour)

    def _succeeded(self, write: RefusedWrite) -> Set[UUID]:
        """The ids of which one may be that of the refused document, which then begins a part. Without the lock: to read
        the identity in a large body takes longer than an append, and what succeeds at the same time has no order."""
        parts = self._parts
        return parts[-1].succeeded.get(write[:3], _NONE) if parts else _NONE

    def _reserve(self, part: Part, writes: int, size: int) -> bool:
        """Take room for the part, which becomes the last one; return whether there is any."""
        if self._writes + writes > MOST_WRITES or self._bytes + size > MOST_BYTES:
            return False
        part.writes += writes
        part.size += size
        self._writes += writes
        self._bytes += size
        if not self._parts or self._parts[-1] is not part:
            self._parts.append(part)
        return True


def rows_of(hours: Hours) -> list[dict[str, Any]]:
    """The rows of `submission_hour`."""
    return [
        {
            "client": client,
            "data_store": data_store,
            "resource": resource,
            "hour": number * _SECONDS_OF_AN_HOUR,
            "accepted": hour.accepted,
            "refused": hour.refused,
            "last_accepted_at": hour.last_accepted_at or None,
            "last_refused_at": hour.last_refused_at or None,
        }
        for (client, data_store, resource, number), hour in hours.items()
    ]


def _size(write: RefusedWrite) -> int:
    """The estimated bytes of memory that the write keeps."""
    problem = write.problem
    kept = [write.sent, problem.get("validationErrors"), problem.get("errors"), problem.get("hints")]
    return cost_of_json(json_text.dumps(kept))
