"""Which rows of a batch would be refused if they were written one after the other, and which repeat earlier ones.

A batch is written at once, so its rows do not see each other come: a document that two rows spell out, a row that
refers to another of the batch, two subclass documents with one superclass identity. What one-after-the-other would
have made of these is worked out here from the ids alone.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain


@dataclass(slots=True)
class Judgement:
    """By position in the batch; rows that are nowhere in it are written in the first wave.

    `missing` has the targets that a refused row refers to in vain; `taken` are the rows whose superclass identity
    another document has; `later` the wave in which the repetition of an accepted row is written.
    """

    missing: dict[int, set[bytes]] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    later: dict[int, int] = field(default_factory=dict)

    def wave_sizes(self, rows: int) -> list[int]:
        """How many of so many rows are written in each wave."""
        sizes = Counter(self.later.values())
        first = rows - len(self.later) - len(self.taken) - len(self.missing)
        return [first, *(sizes[wave] for wave in sorted(sizes))]


# Given, by position: the ids of each row, its own first, in order; the targets of rows that no stored document has.
# And the rows that are new although another stored document has their superclass identity.
Judge = Callable[[Mapping[int, Sequence[bytes]], Mapping[int, set[bytes]], set[int]], Judgement]


def judge(aliases: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]], taken: set[int]) -> Judgement:
    """One row after the other, each seeing those before it."""
    if not not_stored and not taken and _are_distinct(aliases):
        return Judgement()
    judgement = Judgement()
    provided: set[bytes] = set()
    occurrences: Counter[bytes] = Counter()
    for position, (own, *above) in aliases.items():
        # A document may refer to itself, as what it is or as its superclass.
        missing = not_stored.get(position, set()) - provided - {own, *above}
        if missing:
            judgement.missing[position] = missing
            continue
        is_new = own not in provided
        if position in taken or (is_new and not provided.isdisjoint(above)):
            judgement.taken.add(position)
            continue
        provided.update((own, *above))
        occurrences[own] += 1
        if not is_new:
            judgement.later[position] = occurrences[own]
    return judgement


def _are_distinct(aliases: Mapping[int, Sequence[bytes]]) -> bool:
    ids = list(chain.from_iterable(aliases.values()))
    return len(set(ids)) == len(ids)


def judge_together(
    aliases: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]], taken: set[int]
) -> Judgement:
    """As `judge`, but a row may refer to later ones too, and so documents to each other in a circle."""
    missing: dict[int, set[bytes]] = {}
    standing = dict(aliases)
    while lost := _lost(standing, not_stored):
        missing |= lost
        standing = {position: ids for position, ids in standing.items() if position not in lost}
    judgement = judge(standing, {}, taken & standing.keys())
    judgement.missing = missing
    return judgement


def _lost(standing: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]]) -> dict[int, set[bytes]]:
    """What these rows miss if all of them are written."""
    provided = {alias for ids in standing.values() for alias in ids}
    missing = {position: not_stored.get(position, set()) - provided for position in standing}
    return {position: targets for position, targets in missing.items() if targets}
