"""The memory that large requests and batches of a process use together.

A JSON text takes many times its length once it is decoded: ten megabytes of small objects are two hundred. So what a
text will cost is estimated before it is decoded, and what costs much has to get its share of one budget first. Small
requests need none: threads bound their number.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Condition, Lock

from edfi_api.common.conf import api_settings

# In bytes, estimated high for what is kept at a time: decoded and coerced values, the text to store and its copies on
# the way to the database, violations. tests/whole/robustness/test_worker_memory.py measures processes.
_DOCUMENT = 4_000
_VALUE = 250
_VIOLATION = 250
_MOST_VIOLATIONS = 100
_TEXT = 4
# The factor for a text whose strings may take four bytes for each character.
_WIDE_TEXT = 16
# A request that costs less needs no share.
SMALL = 2**20
# The WSGI variable of a request with the stack of what it gives back when it has been answered.
HELD_UNTIL_ANSWERED = "meadowlark.held"
# A request waits for its share for so long.
_SECONDS = 5.0


class MemoryExhausted(Exception):
    """Other requests use the memory of the process."""


def cost_of_json(text: bytes) -> int:
    """The estimated bytes that a document with this text takes while it is prepared and written."""
    values = text.count(b",") + text.count(b"[") + text.count(b"{")
    is_wide = b"\\u" in text or not text.isascii()
    return (
        _DOCUMENT
        + _VALUE * values
        + _VIOLATION * min(values, _MOST_VIOLATIONS)
        + (_WIDE_TEXT if is_wide else _TEXT) * len(text)
    )


class MemoryBudget:
    """A number of bytes that is reserved for whoever comes first."""

    def __init__(self, size: int) -> None:
        self.size = self._free = size
        self._released = Condition()
        # Who waits for much is not overtaken by those who need little.
        self._turn = Lock()
        self._was_reserved = False

    def was_reserved(self) -> bool:
        """Return whether anything was reserved since the last call."""
        was_reserved, self._was_reserved = self._was_reserved, False
        return was_reserved

    @contextmanager
    def reserve(self, least: int, most: int = 0) -> Iterator[int]:
        """Reserve `least` bytes, or the whole budget if that is less; up to `most` while half of what is free suffices.

        Raises MemoryExhausted if there is too little for some seconds.
        """
        taken = self._take(min(least, self.size), most) if least > 0 else 0
        try:
            yield taken
        finally:
            self._release(taken)

    def _take(self, least: int, most: int) -> int:
        end = time.monotonic() + _SECONDS
        if not self._turn.acquire(timeout=_SECONDS):
            raise MemoryExhausted
        try:
            with self._released:
                if not self._released.wait_for(lambda: self._free >= least, end - time.monotonic()):
                    raise MemoryExhausted
                taken = max(least, min(most, self._free // 2))
                self._free -= taken
                return taken
        finally:
            self._turn.release()

    def _release(self, taken: int) -> None:
        with self._released:
            self._free += taken
            self._was_reserved = self._was_reserved or taken > 0
            self._released.notify()


@cache
def process_memory() -> MemoryBudget:
    """The budget of this process."""
    return MemoryBudget(api_settings.REQUEST_MEMORY)
