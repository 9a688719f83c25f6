"""The folder of the workers' metrics files, from which each worker aggregates the metrics of all.

A server holds a lock on its folder until its last process has ended. Process ids would not do: servers in containers
that share the folder for temporary files have the same ones. Cleaners of temporary files that follow systemd-tmpfiles
leave locked folders alone.
"""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "meadowlark-metrics-"


def make() -> str:
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
