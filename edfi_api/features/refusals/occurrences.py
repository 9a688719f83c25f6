"""Refused writes by cause, and within a cause by what was sent.

A client that sends a whole file whose school is missing is refused hundreds of times a second for one cause. To find
out which document each of these was, and to store that, takes a fifth of the processor time of its request. So it is
done for the first different ones of a cause only; of the others the cause and the number are recorded. Writes are
grouped as they arrive, so that of those that are only counted nothing is kept.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from edfi_api.core.documents import json_text
from edfi_api.features.refusals.causes import cause_key
from edfi_api.web.write_recorder import RefusedWrite

_PREFIX = "urn:ed-fi:api:"


@dataclass(slots=True)
class Occurrences:
    """Repetitions of one refused request: `write` is the latest that is kept."""

    write: RefusedWrite
    first_at: float
    last_at: float
    count: int = 1

    def add(self, write: RefusedWrite) -> None:
        self.write = write
        self.count_one(write.at)

    def count_one(self, at: float) -> None:
        self.last_at = at
        self.count += 1


# The place of requests that are only counted.
_OTHERS = None


@dataclass(slots=True)
class Refusals:
    """The refusals of one client, data store, resource and cause. `problem` is the type of the problem without its
    prefix, `write` the first of them, `last_at` the time of the latest, and `count` their number."""

    problem: str
    write: RefusedWrite
    last_at: float = 0.0
    count: int = 0
    _places: dict[Hashable, Occurrences] = field(default_factory=dict)

    def place_of(self, write: RefusedWrite, most: int) -> Hashable:
        """Return where the write is counted: `most` different requests have places of their own."""
        return _OTHERS if len(self._places) >= most else _request(write)

    def at(self, place: Hashable) -> RefusedWrite | None:
        """The write that is kept at a place, if there is one."""
        kept = self._places.get(place)
        return None if kept is None else kept.write

    def add(self, write: RefusedWrite, place: Hashable) -> None:
        """The write takes the place of an earlier one."""
        self.count += 1
        self.last_at = write.at
        if earlier := self._places.get(place):
            earlier.add(write)
        else:
            self._places[place] = Occurrences(write, write.at, write.at)

    def count_other(self, at: float) -> bool:
        """Count a write that needs no place of its own. Returns whether that is so."""
        others = self._places.get(_OTHERS)
        if others is None:
            return False
        others.count_one(at)
        self.count += 1
        self.last_at = at
        return True

    @property
    def documents(self) -> list[Occurrences]:
        """The first different requests."""
        return [each for place, each in self._places.items() if place is not _OTHERS]

    @property
    def others(self) -> Occurrences | None:
        """Return the occurrences after these."""
        return self._places.get(_OTHERS)


def group_of(write: RefusedWrite) -> Hashable:
    """Equal for refusals of one client, data store, resource and cause."""
    type_ = problem_type(write.problem)
    cause = cause_key(write.problem, write.missing, type_)
    return (write.client, write.data_store, write.direction, write.resource, type_, cause)


def problem_type(problem: Mapping[str, Any]) -> str:
    """The type of a problem without its prefix."""
    return str(problem.get("type", "")).removeprefix(_PREFIX)


def _request(write: RefusedWrite) -> Hashable:
    """Equal for repetitions of one request."""
    if write.sent is not None:
        said = json_text.dumps(write.sent)
    else:
        said = json_text.dumps([write.problem.get("validationErrors"), write.problem.get("errors")])
    return (write.operation, write.document_uuid and write.document_uuid.int, sha256(said).digest())
