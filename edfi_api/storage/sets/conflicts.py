"""Finds the rows of a batch that would be refused if written one by one, and further rows for the same document.

A batch is written in one statement, whose rows do not see each other: two rows for the same document, a row that refers
to another of the batch, two subclass documents with one superclass identity. The result that sequential writes would
have is computed here, from referential ids alone.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain


@dataclass(slots=True)
class Conflicts:
    """By position in the batch; rows that are in none of these are written in the first pass.

    `missing` has the targets of a refused row that do not exist; `duplicates` are the rows whose superclass identity
    another document has; `later` has the pass in which a further row for the document of an accepted row is written.
    """

    missing: dict[int, set[bytes]] = field(default_factory=dict)
    duplicates: set[int] = field(default_factory=set)
    later: dict[int, int] = field(default_factory=dict)

    def pass_sizes(self, rows: int) -> list[int]:
        """How many of the batch's `rows` are written in each pass."""
        sizes = Counter(self.later.values())
        first = rows - len(self.later) - len(self.duplicates) - len(self.missing)
        return [first, *(sizes[pass_number] for pass_number in sorted(sizes))]


# Arguments: by position in order, the referential ids of each row, its own first; by position, the targets that no
# stored document has; the positions of new rows whose superclass identity another stored document has.
Resolve = Callable[[Mapping[int, Sequence[bytes]], Mapping[int, set[bytes]], set[int]], Conflicts]


def resolve(
    aliases: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]], duplicates: set[int]
) -> Conflicts:
    """Sequential semantics: each row sees those before it."""
    if not not_stored and not duplicates and _are_distinct(aliases):
        return Conflicts()
    conflicts = Conflicts()
    provided: set[bytes] = set()
    occurrences: Counter[bytes] = Counter()
    for position, (own, *above) in aliases.items():
        # A document may refer to itself, by its own or its superclass identity.
        missing = not_stored.get(position, set()) - provided - {own, *above}
        if missing:
            conflicts.missing[position] = missing
            continue
        is_new = own not in provided
        if position in duplicates or (is_new and not provided.isdisjoint(above)):
            conflicts.duplicates.add(position)
            continue
        provided.update((own, *above))
        occurrences[own] += 1
        if not is_new:
            conflicts.later[position] = occurrences[own]
    return conflicts


def _are_distinct(aliases: Mapping[int, Sequence[bytes]]) -> bool:
    ids = list(chain.from_iterable(aliases.values()))
    return len(set(ids)) == len(ids)


def resolve_together(
    aliases: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]], duplicates: set[int]
) -> Conflicts:
    """As `resolve`, but rows may also refer to later ones, so references may be circular."""
    missing: dict[int, set[bytes]] = {}
    standing = dict(aliases)
    while lost := _lost(standing, not_stored):
        missing |= lost
        standing = {position: ids for position, ids in standing.items() if position not in lost}
    conflicts = resolve(standing, {}, duplicates & standing.keys())
    conflicts.missing = missing
    return conflicts


def _lost(standing: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]]) -> dict[int, set[bytes]]:
    """The targets that rows miss if all the others are written."""
    provided = {alias for ids in standing.values() for alias in ids}
    missing = {position: not_stored.get(position, set()) - provided for position in standing}
    return {position: targets for position, targets in missing.items() if targets}
