"""Concurrent actions, each in a separate thread with its own database connection."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

import psycopg
from django.db import connections, transaction

from tests.support.databases import connection

Result = TypeVar("Result")

_LONGEST_WAIT_SECONDS = 30
_IS_WAITED_FOR = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid)))"


def at_once(*actions: Callable[[], Result], seconds: float = _LONGEST_WAIT_SECONDS) -> list[Result]:
    """The result of each action; all start at the same moment, with established connections."""
    start = Barrier(len(actions), timeout=_LONGEST_WAIT_SECONDS)

    def run(action: Callable[[], Result]) -> Result:
        connection.ensure_connection()
        start.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        running = [pool.submit(_then_disconnect, run, action) for action in actions]
        return [each.result(seconds) for each in running]


def in_background(action: Callable[[], Result]) -> Future[Result]:
    """Starts the action in another thread."""
    pool = ThreadPoolExecutor(1)
    running = pool.submit(_then_disconnect, action)
    pool.shutdown(wait=False)
    return running


def _then_disconnect(action: Callable[..., Result], *arguments: object) -> Result:
    try:
        return action(*arguments)
    finally:
        connections.close_all()


def answer_after(first: Callable[[], Any], second: Callable[[], Any], *, is_committed: bool) -> Any:
    """The answer to a second request, which waits for the first until that is committed, or else rolled back."""
    with transaction.atomic():
        held = first()
        assert held.status_code < 300, held.content
        waiting = in_background(second)
        wait_until_one_waits_for_us(waiting)
        transaction.set_rollback(not is_committed)
    return waiting.result(timeout=20)


def wait_until_one_waits_for_us(running: Future[object]) -> None:
    """Returns when the action waits for a lock held by this thread's transaction; fails if it ends without waiting."""
    ours = connection.connection.info.backend_pid
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as observer:
        while not observer.execute(_IS_WAITED_FOR, [ours]).fetchone()[0]:
            assert not running.done(), f"did not wait: {running.result()}"
            time.sleep(0.002)
