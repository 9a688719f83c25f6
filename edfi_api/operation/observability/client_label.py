"""API clients as labels of metrics: the first so many by their keys, all others as one.

Each label is a time series that stays in memory for as long as the process lives, and there may be any number of
clients.
"""

MOST_CLIENTS = 100
OTHER = "other"

_known: set[str] = set()


def client_label(key: str) -> str:
    """The label of a client: its key, or `OTHER` once `MOST_CLIENTS` are known. Threads may exceed that by a few."""
    if key not in _known:
        if len(_known) >= MOST_CLIENTS:
            return OTHER
        _known.add(key)
    return key
