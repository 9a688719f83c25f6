"""How glibc's allocator gives memory back to the system.

glibc maps large blocks on their own, and unmaps them when they are freed. But each one that is freed raises the size
from which it does so, up to 32 MB: then the blocks of large requests lie between small ones that stay, and are not
given back. Also, each thread fills an arena of its own, and little of it is shared. After requests of 10 MB by ten
clients at once a worker kept 346 MB with two arenas, 256 MB with a fixed size, 225 MB with both, and 204 MB with
`malloc_trim` in addition. So the size and the number of arenas are fixed, and memory is trimmed after much of it was
lent. Threads rarely meet in an arena, since only one of them runs Python.
"""

import ctypes

# Of glibc's malloc.h.
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8
_LARGE = 256 * 1024
_ARENAS = 2


def keep_little() -> None:
    """Of what is freed, for this process. Other C libraries than glibc have no such settings."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_ARENA_MAX, _ARENAS)


def give_small_blocks_back() -> None:
    """Those that are free in whole pages; takes some milliseconds."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
