"""What a load says beside its results, counted: tolerated members by path, warnings of custom rules, and replaced
documents.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.documents.leniency import Reason, Tolerated
from edfi_api.core.documents.paths import in_every_item
from edfi_api.core.writes.rules.ruled_write import Finding
from edfi_api.features.loading.bulk import Written
from edfi_api.features.loading.bulk.candidates import Place
from edfi_api.features.loading.bulk.preparation import PreparersOnDemand

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
    """How many times each key occurred; `others` is the number of those beyond a thousand different ones."""

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


class ToleratedPlace(NamedTuple):
    """A path in the documents of a resource, arrays as `[*]`, and what is wrong there."""

    resource: str
    path: str
    reason: Reason


class ToleratedCounts(Counts[ToleratedPlace]):
    """How many times each path occurred."""

    def add(self, resource: str, tolerated: Iterable[Tolerated]) -> None:
        for each in tolerated:
            self.count(ToleratedPlace(resource, in_every_item(each.path), each.reason))

    def lines(self, most: int) -> Iterator[str]:
        """`Student: $.shoeSize: not a member of the resource, dropped from 12 documents`, the most frequent first."""
        for place, count in self.by_key.most_common(most):
            times = counted(count, "place")
            yield printable(f"{place.resource}: {place.path}: {_IN_WORDS[place.reason]} {times}")
        if left := self.beyond(most):
            yield f"... and {left:,} more such places"


class RuleWarning(NamedTuple):
    """A rule, the path in the documents of a resource, arrays as `[*]`, and its text."""

    resource: str
    rule: str
    path: str
    text: str


class WarningCounts(Counts[RuleWarning]):
    """How many times each warning occurred."""

    def add(self, resource: str, findings: Iterable[Finding]) -> None:
        for each in findings:
            self.count(RuleWarning(resource, each.rule, in_every_item(each.path), each.text))

    def lines(self, most: int) -> Iterator[str]:
        """`Student: $.birthDate: The birth date has changed. (rule birth-date): 12 documents`, the most frequent
        first."""
        for warning, count in self.by_key.most_common(most):
            found = f"{warning.resource}: {warning.path}: {warning.text} (rule {warning.rule})"
            yield printable(f"{found}: {counted(count, 'document')}")
        if left := self.beyond(most):
            yield f"... and {left:,} more such warnings"


class Replaced(NamedTuple):
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
class ReplacedDocuments:
    """How many there are; the first thousand by name."""

    count: int = 0
    named: list[Replaced] = field(default_factory=list)
    _preparers: PreparersOnDemand = field(default_factory=PreparersOnDemand)

    def add(self, written: Written[Place], sources: Sequence[object]) -> None:
        """Count a document that has been replaced, or that has replaced another one."""
        self.count += 1
        if len(self.named) >= MOST_DIFFERENT:
            return
        candidate = written.candidate
        key = self._preparers.of(candidate.resource).partial_identity(candidate.body).natural_key or ""
        own = _place(candidate.origin, sources)
        later = written.replaced_by
        place, by = (None, own) if later is None else (own, _place(later, sources))
        self.named.append(Replaced(candidate.resource.name.resource, key, place, by))

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
