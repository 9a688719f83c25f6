"""Counts of what a client has done: as requests are counted, as JSON, and added up for a report."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

# Times are counted in classes, each of which ends so many times above the one before: a percentile is that exact.
_RATIO = 1.04
_LOG_RATIO = math.log(_RATIO)
# In seconds; less is as much.
_SHORTEST = 1e-5
# More different causes are counted together by resource, and when there are twice as many, those of all resources.
_MOST_CAUSES = 1_000
_OTHER_CAUSES, _OTHER_RESOURCES = "other causes", "other resources"


@dataclass(slots=True)
class Reads:
    """Requests that read a resource in one way. A page is one of a collection; versions are those of the windows of
    change versions, None without any."""

    requests: int = 0
    documents: int = 0
    bytes: int = 0
    pages: int = 0
    from_version: int | None = None
    to_version: int | None = None

    def add(self, other: "Reads") -> None:
        self.requests += other.requests
        self.documents += other.documents
        self.bytes += other.bytes
        self.pages += other.pages
        self.from_version = _chosen(min, self.from_version, other.from_version)
        self.to_version = _chosen(max, self.to_version, other.to_version)

    @property
    def columns(self) -> list[int | None]:
        return [self.requests, self.documents, self.bytes, self.pages, self.from_version, self.to_version]


class Refused(NamedTuple):
    """Requests or operations that were refused for one cause, which is a sentence. `problem` is the
    type of the problem."""

    resource: str
    operation: str
    status: int
    problem: str
    cause: str


@dataclass(slots=True)
class Counts:
    """Counts of what was done.

    `writes` are by path of the resource and what became of it: created, changed, unchanged, deleted. `reads` are by
    resource, and by what was read: a document, a collection, its deletes and so on. `requests` are by kind (write,
    read, batch, other) and status, and `times` by kind and class of duration.
    """

    writes: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[Refused] = field(default_factory=Counter)
    reads: dict[tuple[str, str], Reads] = field(default_factory=dict)
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    times: Counter[tuple[str, int]] = field(default_factory=Counter)

    def count_request(self, kind: str, status: int, seconds: float) -> None:
        """Count a request, and how long it took."""
        self.requests[kind, status] += 1
        self.times[kind, math.ceil(math.log(max(seconds, _SHORTEST)) / _LOG_RATIO)] += 1

    def refuse(self, refused: Refused, number: int = 1) -> None:
        """Count refusals of one cause."""
        if refused not in self.refused and len(self.refused) >= _MOST_CAUSES:
            refused = refused._replace(cause=_OTHER_CAUSES)
        if refused not in self.refused and len(self.refused) >= 2 * _MOST_CAUSES:
            refused = refused._replace(resource=_OTHER_RESOURCES)
        self.refused[refused] += number

    def read(self, resource: str, what: str, reads: Reads) -> None:
        self.reads.setdefault((resource, what), Reads()).add(reads)

    def add(self, other: "Counts") -> None:
        for name in ("writes", "requests", "times"):
            getattr(self, name).update(getattr(other, name))
        for refused, number in other.refused.items():
            self.refuse(refused, number)
        for key, reads in other.reads.items():
            self.read(*key, reads)

    def as_json(self) -> dict[str, Any]:
        """Lists of keys with their values, since objects have texts as keys."""
        counters = {name: _rows(getattr(self, name)) for name in ("writes", "refused", "requests", "times")}
        return counters | {"reads": [[*key, *reads.columns] for key, reads in self.reads.items()]}

    @classmethod
    def of_json(cls, stored: dict[str, Any]) -> Self:
        made = cls(reads={(row[0], row[1]): Reads(*row[2:]) for row in stored["reads"]})
        for name in ("writes", "requests", "times"):
            getattr(made, name).update({tuple(key): number for *key, number in stored[name]})
        made.refused.update({Refused(*key): number for *key, number in stored["refused"]})
        return made

    @classmethod
    def total(cls, several: Iterable["Counts"]) -> Self:
        made = cls()
        for each in several:
            made.add(each)
        return made

    def percentile(self, kind: str, share: float) -> float | None:
        """The time in seconds within which this share of the requests of a kind were answered; None without any."""
        classes = sorted((number, count) for (each, number), count in self.times.items() if each == kind)
        left = share * sum(count for _, count in classes)
        for number, count in classes:
            left -= count
            if left <= 0:
                return _RATIO**number
        return None


def _rows(counter: Counter[Any]) -> list[list[Any]]:
    return [[*key, number] for key, number in counter.items() if number]


def _chosen(choose: Any, one: int | None, other: int | None) -> int | None:
    """The smaller or the greater of two, of which each may be missing."""
    return choose((each for each in (one, other) if each is not None), default=None)  # type: ignore[no-any-return]
