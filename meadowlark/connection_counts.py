"""How many connections each worker has, where all of them see it.

Workers wait for new connections side by side, and whoever is up first takes one. That would often be the same worker
again and again: of 16 connections that came at once one worker took 15, or all, and the processors of the others stayed
idle for as long as those connections lived.
"""

import mmap
from collections.abc import Set

_NOBODY = 2**62
_MOST_WORKERS = 1024

# Shared with all processes that are forked later.
_counts = memoryview(mmap.mmap(-1, 8 * _MOST_WORKERS)).cast("q")


def take_place(taken: Set[int]) -> int:
    """A place that none of those who live has, with no connections yet."""
    place = next(each for each in range(_MOST_WORKERS) if each not in taken)
    _counts[place] = 0
    return place


def leave_place(place: int) -> None:
    """Nobody is to wait for this one any more."""
    _counts[place] = _NOBODY


def tell(place: int, count: int) -> None:
    _counts[place] = count


def somebody_has_fewer_than(count: int) -> bool:
    return count > min(_counts)


for _place in range(_MOST_WORKERS):
    leave_place(_place)
