"""The replicas of each database: databases that only answer reads, somewhat later (`queries.replica`); and when each
client last wrote, so that it reads its own writes from a replica, too.

A record at every write would cost a statement each and serialise the writes of one client; so each process renews a
client's record at most once a second, after a write and before its response.
"""

import time

from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.core.storage.database_state import database_state
from edfi_api.core.storage.driver.execution import execute, with_retries
from edfi_api.core.storage.driver.sql import statements_beside

REPLICA = "replica"

# A record is at most this much older than the client's last write.
SECONDS_BETWEEN_RECORDS = 1

_RECORD = statements_beside(__file__)("record_writer")


class Replicas:
    """The aliases of a database's replicas: that of the settings for the admin database; those of a data store are
    set when it is used."""

    def __init__(self, using: str) -> None:
        is_named = using == DEFAULT_DB_ALIAS and REPLICA in connections.settings
        self.aliases: tuple[str, ...] = (REPLICA,) if is_named else ()


def replicas(using: str) -> tuple[str, ...]:
    """The aliases of the replicas of a database."""
    return database_state(using).value(Replicas).aliases


def record_writer(client: int | None, using: str) -> None:
    """Record the client's write. Must be called after the write and before its response.

    Nothing is recorded within a transaction of the caller, which would lock the record until its end: the caller
    records the client when it has committed.
    """
    if client is None or not replicas(using) or connections[using].in_atomic_block:
        return
    now, recorded_at = time.monotonic(), database_state(using).value(_recorded_at)
    if now - recorded_at.get(client, -SECONDS_BETWEEN_RECORDS) >= SECONDS_BETWEEN_RECORDS:
        with_retries(lambda: execute(_RECORD.with_values(client=client), using))
        recorded_at[client] = now


def _recorded_at(_using: str) -> dict[int, float]:
    """Return when this process last recorded a write of each client, by its monotonic clock."""
    return {}
