"""Growing pauses between attempts."""

from math import inf

# A float is exceeded by a thousand.
_MOST_DOUBLINGS = 64


class BackOff:
    """Counts failures; the pause after each one is twice as long as the one before, up to the longest."""

    def __init__(self, first: float, longest: float = inf) -> None:
        self._first = first
        self.longest = longest
        self.failures = 0

    def pause(self) -> float:
        """Count a failure, and return the seconds to wait after it."""
        pause = min(self._first * 2.0 ** min(self.failures, _MOST_DOUBLINGS), self.longest)
        self.failures += 1
        return pause

    def reset(self) -> None:
        """Begin again with the first pause."""
        self.failures = 0
