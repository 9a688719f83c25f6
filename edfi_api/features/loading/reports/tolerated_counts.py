"""What was tolerated in the documents of a load, such as members that were dropped, counted by path."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.documents.leniency import Reason, Tolerated
from edfi_api.core.documents.paths import in_every_item

# Names of members are arbitrary text.
MOST_PATHS = 1_000
_IN_WORDS = {
    Reason.UNKNOWN_MEMBER: "not a member of the resource, dropped from",
    Reason.OTHER_CASE: "a member in another case, read in",
    Reason.OTHER_FORM: "not in the form in which it is stored, read in",
    Reason.AMBIGUOUS_DATE: "an ambiguous date, read with the month first in",
    Reason.MISSPELT_NAMESPACE: "not spelt like a URI in",
}


class ToleratedPlace(NamedTuple):
    """A path in the documents of a resource, arrays as `[*]`, and what is wrong there."""

    resource: str
    path: str
    reason: Reason


@dataclass(slots=True)
class ToleratedCounts:
    """How many times each path occurred; `others` is the number of those beyond a thousand different paths."""

    by_place: Counter[ToleratedPlace] = field(default_factory=Counter)
    others: int = 0

    def add(self, resource: str, tolerated: Iterable[Tolerated]) -> None:
        for each in tolerated:
            place = ToleratedPlace(resource, in_every_item(each.path), each.reason)
            if place in self.by_place or len(self.by_place) < MOST_PATHS:
                self.by_place[place] += 1
            else:
                self.others += 1

    def lines(self, most: int) -> Iterator[str]:
        """`Student: $.shoeSize: not a member of the resource, dropped from 12 documents`, the most frequent first."""
        for place, count in self.by_place.most_common(most):
            times = counted(count, "place")
            yield printable(f"{place.resource}: {place.path}: {_IN_WORDS[place.reason]} {times}")
        if left := self.others + sum(count for _, count in self.by_place.most_common()[most:]):
            yield f"... and {left:,} more such places"
