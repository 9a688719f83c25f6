"""Waiting for conditions on machines that may pause for half a minute, such as virtual ones."""

import time
from collections.abc import Callable

_PAUSE = 0.05


def wait_until(is_there: Callable[[], object], seconds: float, complaint: object = "") -> None:
    """Counts only the pauses between checks, so that a pause of the machine fails no test. Raises AssertionError after
    `seconds`."""
    for _ in range(round(seconds / _PAUSE)):
        if is_there():
            return
        time.sleep(_PAUSE)
    raise AssertionError(complaint)
