"""A streaming replica of an embedded PostgreSQL, created by `pg_basebackup`."""

import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import psycopg

from meadowlark.run.embedded_postgres import EmbeddedPostgres, url
from meadowlark.run.postgres_programs import binaries
from tests.support import superuser
from tests.whole.robustness.accounts import ACCOUNT
from tests.whole.robustness.waiting import wait_until

_PROGRAM = "pg_basebackup"


def is_possible() -> bool:
    """Whether `pg_basebackup` is installed: not all packages and wheels of PostgreSQL contain it."""
    return (binaries() / _PROGRAM).exists()


class StreamingReplica:
    """A context manager that copies and runs the replica. `stop` and `start` may be called within it."""

    def __init__(self, home: Path, primary: str) -> None:
        self.url = url(home)
        self._home = home
        self._primary = superuser.url_of(primary)
        self._running = ExitStack()

    def __enter__(self) -> Self:
        data = self._home / "postgres"
        self._home.mkdir()
        command = [binaries() / _PROGRAM, "--dbname", self._primary, "--pgdata", data, "--write-recovery-conf"]
        subprocess.run([*command, "--checkpoint=fast", "--no-sync"], check=True)
        for lock in data.glob(".s.PGSQL.*"):  # Copied from the primary, whose socket is in its data folder.
            lock.unlink()
        if os.geteuid() == 0:
            shutil.chown(data, ACCOUNT)
            for path in data.rglob("*"):
                shutil.chown(path, ACCOUNT)
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self._running.enter_context(EmbeddedPostgres(self._home))

    def stop(self) -> None:
        self._running.close()

    def execute(self, statement: str) -> Any:
        """The first value of the first row."""
        with psycopg.connect(superuser.url_of(self.url), autocommit=True) as connection:
            result = connection.execute(statement)
            row = result.fetchone() if result.description else None
        return row[0] if row else None

    def pause(self) -> None:
        """Pauses the replay of the primary's log."""
        self.execute("SELECT pg_wal_replay_pause()")
        self._wait_for("SELECT pg_get_wal_replay_pause_state() = 'paused'")

    def catch_up(self) -> None:
        """Waits until everything is replayed that the primary has written so far."""
        self.execute("SELECT pg_wal_replay_resume()")
        with psycopg.connect(self._primary, autocommit=True) as primary:
            primary.execute("SELECT pg_logical_emit_message(true, 'tests', 'now')")
            (log,) = primary.execute("SELECT pg_current_wal_flush_lsn()").fetchone() or ("",)
        self._wait_for(f"SELECT pg_last_wal_replay_lsn() >= '{log}'::pg_lsn")

    def _wait_for(self, condition: str) -> None:
        wait_until(lambda: self.execute(condition), 30, condition)
