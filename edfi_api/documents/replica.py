"""Which database a collection is read from: the replica, if nobody can notice.

A replica lags behind. A client that has written must find what it wrote, whichever process or machine serves its next
request, so the mark of its write stands in the primary. A mark with every write would cost a statement each and make
the writes of one client wait for one another; so a process renews a client's mark once a second, after a write and
before its answer. Before a collection is read, the primary is asked two cheap things in one round trip: whether the
client's mark is old enough, and how far its log has come. The replica is read if it has applied all of that log, or
at least all that was committed until some seconds ago, which are a setting. So a client misses nothing of its own,
and nobody sees what is older than that, also while the replica applies nothing at all.

Other ways were thought of. To remember the position in the log with each write needs a second statement after each
commit, on the hottest path; a lag that the replica itself tells is wrong as soon as its connection is; a signed
position handed out to clients is not what Ed-Fi clients send back.

A replica that does not answer is left alone for some seconds; the primary answers instead.
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

# A mark is at most so much older than the write that it stands for.
_SECONDS_OF_A_MARK = 1
# How long a replica is left alone that did not answer.
_SECONDS_WITHOUT = 5

_MARK = """
INSERT INTO recent_writer (client, wrote_at) VALUES (%(client)s, clock_timestamp())
ON CONFLICT (client) DO UPDATE SET wrote_at = greatest(recent_writer.wrote_at, excluded.wrote_at)
RETURNING client
"""

# No row for a client that wrote a moment ago.
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

# When this process last marked a client, and until when it leaves the replica alone; by its own clock.
_marked: dict[int, float] = {}
_avoided_until: dict[str, float] = {}


def remember_writer(client: int | None, using: str) -> None:
    """To be called between a client's write and its answer."""
    if client is None or not _is_configured():
        return
    now = time.monotonic()
    if now - _marked.get(client, -_SECONDS_OF_A_MARK) >= _SECONDS_OF_A_MARK:
        with_retries(lambda: execute(_MARK, {"client": client}, using))
        _marked[client] = now


def read(documents: Selection, client: int, seconds: int, query: Callable[[Selection], Result]) -> Result:
    """What `query` makes of the documents: in the replica if it is not further behind than so many seconds, and the
    client's last write is longer ago; otherwise where the selection stands."""
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
