"""Chooses the database for reading a collection: the replica if it is fresh enough, otherwise the primary.

A replica lags. A client must be able to read its own writes, whichever process or machine serves its next request, so
the time of its last write is recorded in the primary (`storage.replicas`). Before a collection is read, one round
trip to the primary returns whether the client's record is old enough, and the current WAL position. The replica is used
if it has replayed the WAL up to that position, or at least all commits until a configured number of seconds ago. So a
client always reads its own writes, and no response is staler than that setting, even if replay on the replica has
stopped.

Alternatives: recording the WAL position of each write needs a second statement after each commit, on the hottest path;
the lag that a replica reports is wrong once its connection to the primary is lost; Ed-Fi clients would not send back a
token with a position.

A replica that does not respond is not used for some seconds; reads go to the primary instead.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeVar

from django.db import DatabaseError, InterfaceError

from edfi_api.core.queries.selection import Selection
from edfi_api.core.storage.database_state import SECONDS_BETWEEN_RECORDS, database_state, replicas
from edfi_api.core.storage.driver.execution import TooMuchContention, execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql

Result = TypeVar("Result")

_logger = logging.getLogger(__name__)

# How long a replica that did not respond is not used.
_SECONDS_WITHOUT = 5

# No row for a client with a recent write.
_STATE_OF_PRIMARY = Sql("""
SELECT pg_current_wal_flush_lsn()::text, (clock_timestamp() - make_interval(secs => %(seconds)s))::text
 WHERE NOT EXISTS (
    SELECT FROM recent_writer
     WHERE client = %(client)s
       AND wrote_at > clock_timestamp() - make_interval(secs => %(remembered)s)
 )
""")

_IS_FRESH = Sql("""
SELECT 1 WHERE pg_is_in_recovery()
   AND (pg_last_wal_replay_lsn() >= %(log)s::pg_lsn OR pg_last_xact_replay_timestamp() >= %(timestamp)s::timestamptz)
""")


class _Avoidance:
    """The time until which this process avoids a replica, by its monotonic clock."""

    def __init__(self, _using: str) -> None:
        self.until = 0.0


def read(documents: Selection, client: int, seconds: int, query: Callable[[Selection], Result]) -> Result:
    """The result of `query`, run on the replica if it lags at most `seconds` and the client's last write is longer ago,
    otherwise on the database of the selection."""
    aliases = replicas(documents.using)
    if not aliases:
        return query(documents)
    replica = _next(aliases, documents.using)
    if replica is not None:
        state = _state_of_primary(client, seconds, documents.using)
        try:
            if state and run_with_retries(lambda: execute(_IS_FRESH.with_values(**state), replica)):
                return query(replace(documents, using=replica))
        except (DatabaseError, InterfaceError, TooMuchContention) as error:
            database_state(replica).value(_Avoidance).until = time.monotonic() + _SECONDS_WITHOUT
            _logger.warning("The replica is not used for %s seconds: %s", _SECONDS_WITHOUT, error)
    return query(documents)


def _next(aliases: Sequence[str], using: str) -> str | None:
    """The replicas in turn, without those that are avoided; None if all are."""
    now = time.monotonic()
    usable = [alias for alias in aliases if now >= database_state(alias).value(_Avoidance).until]
    return usable[next(database_state(using).value(_turns)) % len(usable)] if usable else None


def _turns(_using: str) -> Iterator[int]:
    return count()


def _state_of_primary(client: int, seconds: int, using: str) -> dict[str, str] | None:
    remembered = seconds + SECONDS_BETWEEN_RECORDS
    state = _STATE_OF_PRIMARY.with_values(client=client, seconds=seconds, remembered=remembered)
    rows = run_with_retries(lambda: execute(state, using))
    return dict(zip(("log", "timestamp"), rows[0], strict=True)) if rows else None
