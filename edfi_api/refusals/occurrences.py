"""Refused writes of a flush, by cause, and within a cause by what was sent.

A client that sends a whole file whose school is missing is refused hundreds of times a second for one cause. To find
out which document each of these was, and to store that, takes a fifth of the processor time of its request. So it is
done for the first different ones of a cause only; of the others the cause and the number are recorded.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from edfi_api.documents import json_text
from edfi_api.refusals.causes import cause_key
from edfi_api.refusals.observed import RefusedWrite

_PREFIX = "urn:ed-fi:api:"


@dataclass(slots=True)
class Occurrences:
    """Of one refusal: `write` is the last one."""

    write: RefusedWrite
    first_at: float
    count: int = 1

    def add(self, write: RefusedWrite) -> None:
        self.write = write
        self.count += 1


@dataclass(slots=True)
class Refusals:
    """Those of one client, data store, resource and cause. `problem` is the type of the problem without its prefix,
    `documents` are the first different requests, and `others` those behind them, if there are any."""

    problem: str
    documents: dict[Hashable, Occurrences] = field(default_factory=dict)
    others: Occurrences | None = None

    def add(self, write: RefusedWrite, most: int) -> None:
        """`most` documents are kept."""
        if len(self.documents) >= most:
            self.others = _added(self.others, write)
            return
        sent = _request(write)
        self.documents[sent] = _added(self.documents.get(sent), write)

    @property
    def last(self) -> RefusedWrite:
        """One of them that names the cause."""
        return (self.others or next(iter(self.documents.values()))).write

    @property
    def count(self) -> int:
        """How many writes were refused."""
        return sum(each.count for each in self.documents.values()) + (self.others.count if self.others else 0)


def by_cause(writes: Iterable[RefusedWrite], most: int) -> list[Refusals]:
    """`most` different requests of each cause are kept singly."""
    found: dict[Hashable, Refusals] = {}
    for write in writes:
        problem = problem_type(write)
        key = (write.client, write.data_store, write.resource, problem, cause_key(write, problem))
        refusals = found.get(key)
        if refusals is None:
            refusals = found[key] = Refusals(problem)
        refusals.add(write, most)
    return list(found.values())


def problem_type(write: RefusedWrite) -> str:
    """The type of the problem without its prefix."""
    return str(write.problem.get("type", "")).removeprefix(_PREFIX)


def _request(write: RefusedWrite) -> Hashable:
    """Equal for repetitions of one request."""
    if write.sent is not None:
        said = json_text.dumps(write.sent)
    else:
        said = json_text.dumps([write.problem.get("validationErrors"), write.problem.get("errors")])
    return (write.operation, write.document_uuid and write.document_uuid.int, said)


def _added(earlier: Occurrences | None, write: RefusedWrite) -> Occurrences:
    if earlier is None:
        return Occurrences(write, write.at)
    earlier.add(write)
    return earlier
