"""Documents that a load itself has replaced: its files have several for one key, of which the last one counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from edfi_api.common.logs.printable import printable
from edfi_api.features.loading.bulk import Written
from edfi_api.features.loading.bulk.candidates import Place
from edfi_api.features.loading.bulk.preparation import PreparersOnDemand

# Keys are arbitrary text.
MOST_NAMED = 1_000


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
        if len(self.named) >= MOST_NAMED:
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
