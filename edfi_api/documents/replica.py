"""Chooses the database for reading a collection: the replica if it is fresh enough, otherwise the primary.

A replica lags. A client must be able to read its own writes, whichever process or machine serves its next request, so
the time of its last write is recorded in the primary (`recent_writer`). A record at every write would cost a statement
each and serialise the writes of one client; so each process renews a client's record at most once a second, after a
write and before its response. Before a collection is read, one round trip to the primary returns whether the client's
record is old enough, and the current WAL position. The replica is used if it has replayed the WAL up to that position,
or at least all commits until a configured number of seconds ago. So a client always reads its own writes, and no
response is staler than that setting, even if replay on the replica has stopped.

Alternatives: recording the WAL position of each write needs a second statement after each commit, on the hottest path;
the lag that a replica reports is wrong once its connection to the primary is lost; Ed-Fi clients would not send back a
token with a position.

A replica that does not respond is not used for some seconds; reads go to the primary instead.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, connections

from edfi_api.documents.collection import Selection
from edfi_api.documents.exceptions import TooMuchContention
from edfi_api.documents.execution import execute, with_retries

REPLICA = "replica"

Result = TypeVar("Result")

_logger = logging.getLogger(__name__)

# A record is at most this much older than the client's last write.
_SECONDS_OF_A_MARK = 1
# How long a replica that did not respond is not used.
_SECONDS_WITHOUT = 5

_MARK = """
INSERT INTO recent_writer (client, wrote_at) VALUES (%(client)s, clock_timestamp())
ON CONFLICT (client) DO UPDATE SET wrote_at = greatest(recent_writer.wrote_at, excluded.wrote_at)
RETURNING client
"""

# No row for a client with a recent write.
_STATE_OF_PRIMARY = """
SELECT pg_current_wal_flush_lsn()::text, (clock_timestamp() - make_interval(secs => %(seconds)s))::text
 WHERE NOT EXISTS (
    SELECT FROM recent_writer
     WHERE client = %(client)s
       AND wrote_at > clock_timestamp() - make_interval(secs => %(remembered)s)
 )
"""

_IS_FRESH = """
SELECT 1 WHERE pg_is_in_recovery()
   AND (pg_last_wal_replay_lsn() >= %(log)s::pg_lsn OR pg_last_xact_replay_timestamp() >= %(moment)s::timestamptz)
"""

# By this process's monotonic clock: when it last recorded a write of each client, and until when it avoids the replica.
_marked: dict[int, float] = {}
_avoided_until: dict[str, float] = {}


def remember_writer(client: int | None, using: str) -> None:
    """Record the client's write. Must be called after the write and before its response."""
    if client is None or not _is_configured():
        return
    now = time.monotonic()
    if now - _marked.get(client, -_SECONDS_OF_A_MARK) >= _SECONDS_OF_A_MARK:
        with_retries(lambda: execute(_MARK, {"client": client}, using))
        _marked[client] = now


def read(documents: Selection, client: int, seconds: int, query: Callable[[Selection], Result]) -> Result:
    """The result of `query`, run on the replica if it lags at most `seconds` and the client's last write is longer ago,
    otherwise on the database of the selection."""
    if _is_configured() and time.monotonic() >= _avoided_until.get(REPLICA, 0):
        state = _state_of_primary(client, seconds, documents.using)
        try:
            if state and with_retries(lambda: execute(_IS_FRESH, state, REPLICA)):
                return query(replace(documents, using=REPLICA))
        except (DatabaseError, InterfaceError, TooMuchContention) as error:
            _avoided_until[REPLICA] = time.monotonic() + _SECONDS_WITHOUT
            _logger.warning("The replica is not used for %s seconds: %s", _SECONDS_WITHOUT, error)
    return query(documents)


def _is_configured() -> bool:
    return REPLICA in connections.settings


def _state_of_primary(client: int, seconds: int, using: str) -> dict[str, str] | None:
    parameters = {"client": client, "seconds": seconds, "remembered": seconds + _SECONDS_OF_A_MARK}
    rows = with_retries(lambda: execute(_STATE_OF_PRIMARY, parameters, using))
    return dict(zip(("log", "moment"), rows[0], strict=True)) if rows else None
