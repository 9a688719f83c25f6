"""What a mapping left out or filled in, counted by member."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class LossPlace(NamedTuple):
    """A member of the documents of a resource (its endpoint), or the documents themselves if the path is empty."""

    mapping: str
    resource: str
    path: str
    reason: str


@dataclass(slots=True)
class Losses:
    """Counts of values: of an array each item counts with its members. `given` are values that a mapping filled in."""

    lost: Counter[LossPlace] = field(default_factory=Counter)
    given: Counter[LossPlace] = field(default_factory=Counter)

    def lines(self) -> list[str]:
        """A line for each place, the most frequent first."""
        kinds = (("lost", self.lost), ("given", self.given))
        return [_line(kind, place, count) for kind, counts in kinds for place, count in counts.most_common()]

    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """Return the facts for the JSON report of a load."""
        return {"lost": _facts(self.lost), "given": _facts(self.given)}


def _line(kind: str, place: LossPlace, count: int) -> str:
    what = f"{place.resource} {place.path}" if place.path else f"documents of {place.resource}"
    return f"{kind}: {what}: {count:,} ({place.reason})"


def _facts(counts: Counter[LossPlace]) -> list[dict[str, Any]]:
    return [place._asdict() | {"count": count} for place, count in counts.most_common()]
