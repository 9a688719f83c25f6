"""The URIs of stored descriptors, in their own letter case.

Descriptors cannot be renamed, so stored URIs are cached; entries expire because a descriptor can be deleted and created
again in another case.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from uuid import UUID

from edfi_api.core.storage.database_state import database_state
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import statements_of

_MOST_REMEMBERED = 65_536
_SECONDS_REMEMBERED = 60
_NOTHING = ("", 0.0)
_URIS = statements_of(__file__)("descriptor_uris")


def stored_uris(ids: Iterable[UUID], using: str) -> dict[UUID, str]:
    """The URIs of the stored descriptors among these referential ids; at most one query, none if all are cached."""
    now, remembered = time.monotonic(), database_state(using).value(_remembered)
    found, unknown = {}, []
    for id_ in ids:
        uri, until = remembered.get(id_.int, _NOTHING)
        if now < until:
            found[id_] = uri
        else:
            unknown.append(id_)
    if not unknown:
        return found
    read = read_uris(unknown, using)
    _make_room(remembered, len(read))
    until = time.monotonic() + _SECONDS_REMEMBERED
    remembered.update({id_.int: (uri, until) for id_, uri in read.items()})
    return found | read


def forget(using: str) -> None:
    """Forget all spellings, because a descriptor has been deleted, which may be created again in another case. Other
    processes forget it within the minute."""
    database_state(using).value(_remembered).clear()


def _make_room(remembered: dict[int, tuple[str, float]], number: int) -> None:
    """Forget the entries that were read first. Another thread may change the dictionary: then it makes room."""
    with suppress(RuntimeError):
        for id_ in list(islice(remembered, max(0, len(remembered) + number - _MOST_REMEMBERED))):
            remembered.pop(id_, None)


def _remembered(_using: str) -> dict[int, tuple[str, float]]:
    """Return a dictionary of URIs, and when the entry expires, by referential id as an integer: hashing and comparing
    UUIDs runs Python code. Each access is a single dictionary operation, so threads need no lock."""
    return {}


def read_uris(ids: list[UUID], using: str) -> dict[UUID, str]:
    """Return what `stored_uris` returns, for transactions that write descriptors: nothing is cached."""
    return dict(run_with_retries(lambda: execute(_URIS.with_values(ids=ids), using)))
