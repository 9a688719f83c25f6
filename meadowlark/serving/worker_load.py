"""How many connections each worker has, where all of them see it.

Workers wait for new connections side by side, and whoever is up first takes one. That would often be the same worker
again and again: of 16 connections that came at once one worker took 15, or all, and the processors of the others stayed
idle for as long as those connections lived.
"""

import mmap
from collections.abc import Set

_NOT_ACCEPTING = 2**62
_MOST_WORKERS = 1024

# Shared with all processes that are forked later.
_counts = memoryview(mmap.mmap(-1, 8 * _MOST_WORKERS)).cast("q")


def allocate(taken: Set[int]) -> int:
    """A slot that no live worker has, with a count of zero."""
    slot = next(each for each in range(_MOST_WORKERS) if each not in taken)
    _counts[slot] = 0
    return slot


def release(slot: int) -> None:
    """The worker of this slot accepts no more connections, so the others do not wait for it."""
    _counts[slot] = _NOT_ACCEPTING


def publish(slot: int, count: int) -> None:
    """Make the number of the worker's open connections visible to the others."""
    _counts[slot] = count


def is_least_loaded(count: int) -> bool:
    """Whether no other worker that accepts connections has fewer than `count`."""
    return count <= min(_counts)


for _slot in range(_MOST_WORKERS):
    release(_slot)
