"""Changes of tables while requests use them.

A statement that waits for the lock of a table lets everyone wait who comes after it, readers too, for as long as a
report or a backup reads that table. So a change waits for a second at most, gives way to those after it, and is tried
again.
"""

import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import OperationalError, connections
from psycopg.errors import DeadlockDetected, LockNotAvailable

_log = logging.getLogger(__name__)

Result = TypeVar("Result")

# How long a statement waits; how long others have then; how often a change is tried: for five minutes.
WAIT_MILLISECONDS = 1_000
PAUSE_SECONDS = 4.0
TURNS = 60

# Sessions that hold locks of tables and views, those first that exclude readers, then the longest transactions.
_HOLDERS = """
SELECT format('process %s of %s (%s), in a transaction since %s, holds %s%s', a.pid, a.usename, a.application_name,
              to_char(a.xact_start, 'HH24:MI:SS'),
              (array_agg(held ORDER BY is_exclusive DESC, held))[1],
              CASE WHEN count(*) > 1 THEN format(' and %s further locks', count(*) - 1) END)
  FROM pg_stat_activity a
  JOIN (SELECT l.pid, l.mode = 'AccessExclusiveLock' AS is_exclusive,
               format('%s on %s', l.mode, l.relation::regclass) AS held
          FROM pg_locks l JOIN pg_class k ON k.oid = l.relation AND k.relkind IN ('r', 'p', 'v', 'm')
         WHERE l.granted AND l.pid <> pg_backend_pid() AND l.locktype = 'relation'
           AND k.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
           AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) locks USING (pid)
 GROUP BY a.pid, a.usename, a.application_name, a.xact_start
 ORDER BY bool_or(is_exclusive) DESC, a.xact_start
 LIMIT 5
"""


class LocksNotFree(Exception):
    """A change was given up, since others hold locks that it needs; the arguments are lines of text."""


def limit_waits(using: str) -> None:
    """Let the statements of this transaction fail if a lock is not free in time."""
    with connections[using].cursor() as cursor:
        cursor.execute(limiting())


def limiting() -> str:
    """Return the statement that limits the waits of a transaction."""
    return f"SET LOCAL lock_timeout = '{WAIT_MILLISECONDS}ms'"


def run_in_turns(change: Callable[[], Result], using: str) -> Result:
    """Return what `change` returns, which limits its waits and leaves nothing when it fails. It is tried again
    while it fails because a lock is not free; the log says so, and who holds locks. Raises LocksNotFree after the last
    turn."""
    for turn in range(1, TURNS + 1):
        try:
            return change()
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
                raise
            found = holders(using)
            if turn == TURNS:
                raise LocksNotFree(f"a lock was not free in {counted_turns()}", *found) from error
        _log.warning(
            "a lock of a table is not free; turn %d of %d begins in %g seconds: %s",
            turn + 1,
            TURNS,
            PAUSE_SECONDS,
            "; ".join(found) or "its holder has just ended",
        )
        time.sleep(PAUSE_SECONDS)
    raise AssertionError("there is a last turn")


def counted_turns() -> str:
    """Return how long a change is tried, in words: `60 turns of 1000 ms`."""
    return f"{TURNS} turn{'' if TURNS == 1 else 's'} of {WAIT_MILLISECONDS} ms"


def holders(using: str) -> list[str]:
    """Return a text for each of the first sessions that hold locks of tables and views."""
    with connections[using].cursor() as cursor:
        cursor.execute(_HOLDERS)
        return [text for (text,) in cursor.fetchall()]


class WaitsLimited:
    """A wrapper of executions that limits the waits in each transaction, by its first statement: a session may not be
    ours alone behind a pooler."""

    def __init__(self) -> None:
        self._transaction: object = None

    def __call__(
        self, execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        blocks = context["connection"].atomic_blocks
        if blocks and blocks[0] is not self._transaction:
            self._transaction = blocks[0]
            # This does not use Django's cursor, which may be one of the server.
            context["connection"].connection.execute(limiting())
        return execute(sql, parameters, many, context)
