"""SIGTERM and Ctrl-C as an event, so that a worker ends between two steps of its work."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_event(*, interrupts: bool = False) -> Iterator[threading.Event]:
    """The event, which is set by either signal within the context; with `interrupts` it also raises KeyboardInterrupt,
    for work that waits in calls that know nothing of the event."""
    stop = threading.Event()

    def set_it(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        if interrupts:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, set_it) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
