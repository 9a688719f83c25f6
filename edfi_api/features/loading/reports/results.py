"""The result of a load: counts by resource and outcome, and refusals with their reasons."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

import orjson

from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.documents.paths import in_every_item
from edfi_api.core.documents.violations import Reason, Tolerated
from edfi_api.core.storage.sets import REFUSALS, Refusal
from edfi_api.core.storage.stored import Outcome
from edfi_api.core.writes.rules.ruled_write import Finding
from edfi_api.features.loading.bulk import Written
from edfi_api.features.loading.bulk.candidates import Place
from edfi_api.features.loading.bulk.preparation import DocumentValidatorsOnDemand
from edfi_api.features.loading.mapping.translation import UnmappedCounts
from edfi_api.features.loading.reports.causes import Cause, Causes
from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.web.problem_details.catalog import problem_of
from edfi_api.web.problem_details.catalog.served_names import error_in_served_names
from references.exceptions import MissingTarget, UnresolvedReference

# Paths, texts of rules and keys are arbitrary texts, so that there may be any number of different ones.
MOST_DIFFERENT = 1_000
_IN_WORDS = {
    Reason.UNKNOWN_MEMBER: "not a member of the resource, dropped from",
    Reason.OTHER_CASE: "a member in another case, read in",
    Reason.OTHER_FORM: "not in the form in which it is stored, read in",
    Reason.AMBIGUOUS_DATE: "an ambiguous date, read with the month first in",
    Reason.MISSPELT_NAMESPACE: "not spelt like a URI in",
}


Key = TypeVar("Key")


@dataclass(slots=True)
class Counts(Generic[Key]):
    """The number of occurrences of each key; `others` is the number of those beyond a thousand different ones."""

    by_key: Counter[Key] = field(default_factory=Counter)
    others: int = 0

    def count(self, key: Key) -> None:
        if key in self.by_key or len(self.by_key) < MOST_DIFFERENT:
            self.by_key[key] += 1
        else:
            self.others += 1

    def beyond(self, most: int) -> int:
        """Return the number of all that are not among the most frequent keys."""
        return self.others + sum(count for _, count in self.by_key.most_common()[most:])


class _ToleratedPlace(NamedTuple):
    """A path in the documents of a resource, arrays as `[*]`, and what is wrong there."""

    resource: str
    path: str
    reason: Reason


class _ToleratedCounts(Counts[_ToleratedPlace]):
    """The number of occurrences of each path."""

    def add(self, resource: str, tolerated: Iterable[Tolerated]) -> None:
        for each in tolerated:
            self.count(_ToleratedPlace(resource, in_every_item(each.path), each.reason))

    def lines(self, most: int) -> Iterator[str]:
        """`Student: $.shoeSize: not a member of the resource, dropped from 12 documents`, the most frequent first."""
        for place, count in self.by_key.most_common(most):
            times = counted(count, "place")
            yield printable(f"{place.resource}: {place.path}: {_IN_WORDS[place.reason]} {times}")
        if left := self.beyond(most):
            yield f"... and {left:,} more such places"


class _RuleWarning(NamedTuple):
    """A rule, the path in the documents of a resource, arrays as `[*]`, and its text."""

    resource: str
    rule: str
    path: str
    text: str


class _WarningCounts(Counts[_RuleWarning]):
    """The number of occurrences of each warning."""

    def add(self, resource: str, findings: Iterable[Finding]) -> None:
        for each in findings:
            self.count(_RuleWarning(resource, each.rule, in_every_item(each.path), each.text))

    def lines(self, most: int) -> Iterator[str]:
        """`Student: $.birthDate: The birth date has changed. (rule birth-date): 12 documents`, the most frequent
        first."""
        for warning, count in self.by_key.most_common(most):
            found = f"{warning.resource}: {warning.path}: {warning.text} (rule {warning.rule})"
            yield printable(f"{found}: {counted(count, 'document')}")
        if left := self.beyond(most):
            yield f"... and {left:,} more such warnings"


class _Replaced(NamedTuple):
    """A document that a later one of the load replaces. `place` is `file:line` of the earlier one, None if that was
    written before the later one was read; `by` is that of the later one."""

    resource: str
    natural_key: str
    place: str | None
    by: str

    def __str__(self) -> str:
        of = "an earlier document" if self.place is None else self.place
        return printable(f"{self.resource} {self.natural_key}: {of} is replaced by {self.by}")

    def facts(self) -> dict[str, Any]:
        """Return the members of the JSON report."""
        return {
            "resource": self.resource,
            "naturalKey": printable(self.natural_key),
            "replaced": None if self.place is None else printable(self.place),
            "by": printable(self.by),
        }


@dataclass(slots=True)
class _ReplacedDocuments:
    """The number of replaced documents, and the first thousand by name."""

    count: int = 0
    named: list[_Replaced] = field(default_factory=list)
    _validators: DocumentValidatorsOnDemand = field(default_factory=DocumentValidatorsOnDemand)

    def add(self, written: Written[Place], sources: Sequence[object]) -> None:
        """Count a document that has been replaced, or that has replaced another one."""
        self.count += 1
        if len(self.named) >= MOST_DIFFERENT:
            return
        candidate = written.candidate
        key = self._validators.of(candidate.resource).partial_identity(candidate.body).natural_key or ""
        own = _place(candidate.origin, sources)
        later = written.replaced_by
        place, by = (None, own) if later is None else (own, _place(later, sources))
        self.named.append(_Replaced(candidate.resource.name.resource, key, place, by))

    def lines(self, most: int) -> Iterator[str]:
        """Yield a line with the number of replaced documents, and one for each of the first; nothing without any."""
        if not self.count:
            return
        documents = "document is" if self.count == 1 else "documents are"
        yield f"{self.count:,} {documents} replaced by a later one of the same load for the same key"
        yield from map(str, self.named[:most])
        if self.count > most:
            yield f"... and {self.count - most:,} more"


def _place(place: Place, sources: Sequence[object]) -> str:
    return f"{sources[place.source]}:{place.line}"


REFUSED = "refused"
COLUMNS = {"created": Outcome.INSERTED, "updated": Outcome.UPDATED, "unchanged": Outcome.UNCHANGED, "refused": REFUSED}

_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that was not written, or a file that could not be read to its end.

    `resource` is None for a file, and for a document of an unknown resource; `line` is None for a file that could not
    be opened. All documents of one unknown resource have the same reason. `cause` is the root cause; None if there are
    too many to distinguish them, and for a file.
    """

    file: str
    line: int | None
    resource: ResourceName | None
    reason: str
    is_of_no_resource: bool = False
    cause: Cause | None = field(default=None, compare=False, repr=False)

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
    causes: Sequence[Cause] = ()
    tolerated: _ToleratedCounts = field(default_factory=_ToleratedCounts)
    warnings: _WarningCounts = field(default_factory=_WarningCounts)
    unmapped: UnmappedCounts = field(default_factory=UnmappedCounts)
    replaced: _ReplacedDocuments = field(default_factory=_ReplacedDocuments)

    def count(self, resource: ResourceName | None, outcome: str) -> None:
        self.counts[resource][outcome] += 1

    def count_accepted(self, written: Written[Any], outcome: Outcome) -> None:
        """Count a document that was written, and what was tolerated or warned of in it."""
        self.count(written.candidate.resource.name, outcome)
        if written.tolerated:
            self.tolerated.add(written.candidate.resource.name.resource, written.tolerated)
        if written.warnings:
            self.warnings.add(written.candidate.resource.name.resource, written.warnings)

    def total(self, outcome: str) -> int:
        return sum(counter[outcome] for counter in self.counts.values())

    @property
    def sent(self) -> int:
        """The number of all documents, whatever their outcome."""
        return sum(counter.total() for counter in self.counts.values())


# Called with each refusal as it happens; an exception from it ends the load.
RefusalHandler = Callable[[Refused], None]


class RefusalReporter:
    """Counts refusals in the result of a load, finds their causes, and passes each to a handler."""

    def __init__(self, result: LoadResult, on_refusal: RefusalHandler, causes: Causes) -> None:
        self.result = result
        self._on_refusal = on_refusal
        self._causes = causes
        self._validators: dict[ResourceName, DocumentValidator] = {}
        result.causes = causes.found

    def report_accepted_document(self, written: Written[Place], outcome: Outcome, sources: Sequence[object]) -> None:
        """Report a document that was written, or is replaced by a later one of these `sources`."""
        self.result.count_accepted(written, outcome)
        if written.replaced_by is not None or written.has_replaced:
            self.result.replaced.add(written, sources)

    def report_refused(self, refused: Refused) -> None:
        """Report a document for what is wrong with it before it can be understood."""
        name = refused.resource.resource if refused.resource else None
        self._report(replace(refused, cause=self._causes.of_fault(name, refused.reason, refused.place)))

    def report_refused_document(self, written: Written[Any], refusal: Refusal, file: str, line: int | None) -> None:
        """Report a refused document that was understood as far as its JSON goes."""
        name = written.candidate.resource.name
        refused = Refused(file, line, name, refusal_reason(written, refusal))
        if isinstance(refusal, UnresolvedReference):
            targets = (*refusal.documents, *refusal.descriptors)
            cause = self._causes.of_missing(name.resource, targets, refused.place, written.aliases)
        else:
            aliases = self._aliases(written)
            cause = self._causes.of_fault(name.resource, refused.reason, refused.place, aliases)
        self._report(replace(refused, cause=cause))

    def report_unreadable(self, refused: Refused) -> None:
        """Report a file that could not be read to its end."""
        self.result.unreadable.append(refused)
        self._on_refusal(refused)

    def _report(self, refused: Refused) -> None:
        self.result.count(refused.resource, REFUSED)
        self._on_refusal(refused)

    def _aliases(self, written: Written[Any]) -> list[UUID]:
        """Return the ids by which others may refer to the document, even if its body is invalid."""
        if written.aliases:
            return [UUID(bytes=alias) for alias in written.aliases]
        resource = written.candidate.resource
        try:
            body = written.candidate.body
        except REFUSALS:
            return []
        if resource.name not in self._validators:
            self._validators[resource.name] = DocumentValidator(resource)
        return self._validators[resource.name].aliases_of_refused(body)


def no_such(kind: str, name: str, surface: Surface) -> str:
    """`parents: no such resource in Ed-Fi 5.2.0`."""
    standards = ", ".join(f"{project.name} {project.version}" for project in surface.projects)
    return f"{name}: no such {kind} in {standards}"


def refusal_reason(written: Written[Any], refusal: Refusal) -> str:
    """The messages of the API's error response, each with its path; for a missing target also its identity."""
    served = error_in_served_names(refusal, written.candidate.resource)
    if not isinstance(served, UnresolvedReference):
        return reason_in_words(served)
    return reason_in_words(served, dict(_targets_meant(written.candidate.body, served)))


def reason_in_words(error: Exception, meant: Mapping[str, str] | None = None) -> str:
    """The messages of the API's error response, each with its path and the `meant` text for that path."""
    problem = problem_of(error)
    if problem is None:
        return repr(error)
    by_path = (problem.validation_errors or {}).items()
    messages = [f"{path}: {text}{(meant or {}).get(path, '')}" for path, texts in by_path for text in texts]
    return "; ".join([*messages, *problem.errors]) or problem.detail


def _targets_meant(body: dict[str, Any], refusal: UnresolvedReference) -> Iterator[tuple[str, str]]:
    """The keys of the targets as they were sent, unless members were sent under names in another form."""
    for missing in refusal.documents:
        if (key := _value_at(body, missing)) is not None:
            yield missing.path, f" {orjson.dumps(key).decode()}"


def _value_at(body: Any, missing: MissingTarget) -> Any:
    for member, index in _STEP.findall(missing.path):
        try:
            body = body[member] if member else body[int(index)]
        except KeyError:
            return None
    return body
