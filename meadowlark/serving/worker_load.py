"""The number of open connections of each worker, in memory that all workers share.

All workers wait on the same listening socket, and the first one to wake accepts the connection. Without further
measures that is often the same worker: of 16 simultaneous connections one worker accepted 15 or all 16, and the
processors of the others stayed idle for the lifetime of those connections.
"""

import mmap
from collections.abc import Set

_NOT_ACCEPTING = 2**62
_MOST_WORKERS = 1024

# Anonymous shared memory, which processes that are forked later inherit.
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
