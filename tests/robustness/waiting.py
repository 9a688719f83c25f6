"""Waiting for what should come soon, on machines that may stand still for half a minute, as virtual ones do."""

import time
from collections.abc import Callable

_PAUSE = 0.05


def wait_until(is_there: Callable[[], object], seconds: float, complaint: object = "") -> None:
    """Only the time in which we ourselves wait counts, so that a machine that stops fails no test. AssertionError if it
    does not come."""
    for _ in range(round(seconds / _PAUSE)):
        if is_there():
            return
        time.sleep(_PAUSE)
    raise AssertionError(complaint)
