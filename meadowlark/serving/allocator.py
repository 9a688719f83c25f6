"""How glibc's allocator gives memory back to the system.

glibc maps large blocks on their own, and unmaps them when they are freed. But each one that is freed raises the size
from which it does so, up to 32 MB: then the blocks of large requests lie between small ones that stay, and are not
given back. After requests of 10 MB by ten clients at once a worker kept 346 MB with fewer arenas
(`MALLOC_ARENA_MAX=2`), 256 MB with a fixed size, 225 MB with both, and 204 MB with `malloc_trim` in addition. So the
size is fixed, and memory is trimmed after much of it was lent.
"""

import ctypes

# Of glibc's malloc.h.
_MMAP_THRESHOLD = -3
_LARGE = 256 * 1024


def give_large_blocks_back() -> None:
    """For this process. Other C libraries than glibc have no such setting."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE)


def give_small_blocks_back() -> None:
    """Those that are free in whole pages; takes some milliseconds."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
