"""The result of a load: counts by resource and outcome, and refusals with their reasons."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from edfi_api.loading.bulk import Refusal, Written
from edfi_api.logs.printable import printable
from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.problem_details.catalog import problem_of
from edfi_api.storage.stored import Outcome
from references.exceptions import MissingTarget, UnresolvedReference

REFUSED = "refused"
COLUMNS = {"created": Outcome.INSERTED, "updated": Outcome.UPDATED, "unchanged": Outcome.UNCHANGED, "refused": REFUSED}

_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that was not written, or a file that could not be read to its end.

    `resource` is None for a file, and for a document of an unknown resource; `line` is None for a file that could not
    be opened. All documents of one unknown resource have the same reason.
    """

    file: str
    line: int | None
    resource: ResourceName | None
    reason: str
    is_of_no_resource: bool = False

    @property
    def place(self) -> str:
        """`file:line`."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        text = ": ".join([self.place, *([self.resource.resource] if self.resource else []), self.reason])
        return printable(text)


@dataclass(slots=True)
class LoadResult:
    """Counts by resource and outcome, in the order of loading; `unreadable` are the files not read to their end."""

    counts: dict[ResourceName | None, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unreadable: list[Refused] = field(default_factory=list)

    def count(self, resource: ResourceName | None, outcome: str) -> None:
        self.counts[resource][outcome] += 1

    def total(self, outcome: str) -> int:
        return sum(counter[outcome] for counter in self.counts.values())

    @property
    def sent(self) -> int:
        """The number of all documents, whatever their outcome."""
        return sum(counter.total() for counter in self.counts.values())


# Called with each refusal as it happens; an exception from it ends the load.
RefusalHandler = Callable[[Refused], None]


@dataclass(frozen=True, slots=True)
class RefusalReporter:
    """Counts refusals in the result of a load, and passes each to a handler."""

    result: LoadResult
    on_refusal: RefusalHandler

    def refused(self, refused: Refused) -> None:
        self.result.count(refused.resource, REFUSED)
        self.on_refusal(refused)

    def unreadable(self, refused: Refused) -> None:
        """A file that could not be read to its end."""
        self.result.unreadable.append(refused)
        self.on_refusal(refused)


def no_such(kind: str, name: str, surface: Surface) -> str:
    """`parents: no such resource in Ed-Fi 5.2.0`."""
    standards = ", ".join(f"{project.name} {project.version}" for project in surface.projects)
    return f"{name}: no such {kind} in {standards}"


def refusal_reason(written: Written[Any], refusal: Refusal) -> str:
    """The messages of the API's error response, each with its path; for a missing target also its identity."""
    if not isinstance(refusal, UnresolvedReference):
        return reason_in_words(refusal)
    return reason_in_words(refusal, dict(_targets_meant(written.candidate.body, refusal)))


def reason_in_words(error: Exception, meant: Mapping[str, str] | None = None) -> str:
    """The messages of the API's error response, each with its path and the `meant` text for that path."""
    problem = problem_of(error)
    if problem is None:
        return repr(error)
    by_path = (problem.validation_errors or {}).items()
    messages = [f"{path}: {text}{(meant or {}).get(path, '')}" for path, texts in by_path for text in texts]
    return "; ".join([*messages, *problem.errors]) or problem.detail


def _targets_meant(body: dict[str, Any], refusal: UnresolvedReference) -> Iterator[tuple[str, str]]:
    for missing in refusal.documents:
        yield missing.path, f" {orjson.dumps(_value_at(body, missing)).decode()}"


def _value_at(body: Any, missing: MissingTarget) -> Any:
    for member, index in _STEP.findall(missing.path):
        body = body[member] if member else body[int(index)]
    return body
