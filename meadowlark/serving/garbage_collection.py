"""Starts without garbage collection, and ends without it.

Nearly everything that imports and migrations make stays until the process ends, and traversing it again and again takes
a fourth of their processor time. Python's last collection, as the process ends, would traverse all of it once more: a
sixth of the time of `manage.py check`, for memory that the system takes back anyway.
"""

import atexit
import gc


def pause() -> None:
    """No collections until `resume`, and none when the process ends."""
    gc.disable()
    atexit.register(gc.freeze)


def resume() -> None:
    """Collections, but not of what exists now."""
    gc.freeze()
    gc.enable()
