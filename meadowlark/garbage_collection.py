"""Starts without garbage collection.

Nearly everything that imports and migrations make stays until the process ends, and traversing it again and again takes
a fourth of their processor time.
"""

import gc


def pause() -> None:
    """No collections until `resume`."""
    gc.disable()


def resume() -> None:
    """Collections, but not of what exists now."""
    gc.freeze()
    gc.enable()
