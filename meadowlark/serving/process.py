"""Processes of the server: their garbage collection, signals and memory, and the folder of their metrics."""

import atexit
import ctypes
import fcntl
import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

# Nearly everything that imports and migrations make stays until the process ends, and traversing it again and again
# takes a fourth of their processor time. Python's last collection, as the process ends, would traverse all of it once
# more: a sixth of the time of `manage.py check`, for memory that the system takes back anyway.


def pause_garbage_collection() -> None:
    """No collections until `resume_garbage_collection`, and none when the process ends."""
    gc.disable()
    atexit.register(gc.freeze)


def resume_garbage_collection() -> None:
    """Collections, but not of what exists now."""
    gc.freeze()
    gc.enable()


# A worker inherits the handlers of the arbiter, which only note a signal. One that is stopped before it has handlers
# of its own would go on until the arbiter kills it, after the graceful timeout.

_SIGNALS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT)


def delay_stop_signals() -> None:
    """Hold stop signals back, in the arbiter before a fork: this process and the worker receive them after
    `deliver_stop_signals`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)


def deliver_stop_signals() -> None:
    """Receive stop signals again, and those that have arrived since `delay_stop_signals`."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def deliver_stop_signals_after_forks() -> None:
    """Call `deliver_stop_signals` in this process after each fork, also after one that fails."""
    os.register_at_fork(after_in_parent=deliver_stop_signals)


# glibc maps large blocks on their own, and unmaps them when they are freed. But each one that is freed raises the size
# from which it does so, up to 32 MB: then the blocks of large requests lie between small ones that stay, and are not
# given back. Also, each thread fills an arena of its own, and little of it is shared. After requests of 10 MB by ten
# clients at once a worker kept 346 MB with two arenas, 256 MB with a fixed size, 225 MB with both, and 204 MB with
# `malloc_trim` in addition. So the size and the number of arenas are fixed, and memory is trimmed after much of it was
# taken. Threads rarely meet in an arena, since only one of them runs Python.

# Of glibc's malloc.h.
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8
_LARGE = 256 * 1024
_ARENAS = 2


def keep_little_freed_memory() -> None:
    """Let this process keep little of the memory that it has freed. Other C libraries than glibc have no such
    settings."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_ARENA_MAX, _ARENAS)


def give_small_blocks_back() -> None:
    """Give the system the small blocks that are free in whole pages; takes some milliseconds."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


# A server holds a lock on its folder until its last process has ended. Process ids would not do: servers in containers
# that share the folder for temporary files have the same ones. Cleaners of temporary files that follow systemd-tmpfiles
# leave locked folders alone.

_PREFIX = "meadowlark-metrics-"


def make_metrics_folder() -> str:
    """A new folder for this server process; removes those of servers that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        _remove_if_abandoned(folder)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        if _is_locked_now(lock) and folder.exists():
            return str(folder)
        # Another server that starts found it before it was locked.
        os.close(lock)


def _remove_if_abandoned(folder: Path) -> None:
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # Removed by now, or another user's.
        return
    if _is_locked_now(lock):
        shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _is_locked_now(lock: int) -> bool:
    """Lock the open folder; False if another process holds the lock."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
