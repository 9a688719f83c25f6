"""API clients as labels of metrics: the first so many by their keys, all others as one.

Each label is a time series that stays in memory for as long as the process lives, and there may be any number of
clients.
"""

MOST_CLIENTS = 100
OTHER = "other"


class BoundedLabels:
    """The first `most` names as they are, `OTHER` for the rest. Concurrent threads may exceed the bound by a few."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def __call__(self, name: str) -> str:
        if name not in self._known:
            if len(self._known) >= self._most:
                return OTHER
            self._known.add(name)
        return name


client_label = BoundedLabels(MOST_CLIENTS)
