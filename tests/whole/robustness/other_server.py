"""A PostgreSQL server beside that of the admin database, which can be killed and started again."""

import os
import signal
import time
from pathlib import Path

import psycopg

from meadowlark.run.embedded_postgres import EmbeddedPostgres

# Autovacuum workers have no role; CREATE DATABASE ends them.
_END_SESSIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'meadowlark' AND usesysid IS NOT NULL
"""


def postmaster(data: Path) -> int:
    """The id of the main process of the running server with this data folder."""
    return int((data / "postmaster.pid").read_text().split()[0])


def copy_database(url: str, name: str) -> None:
    """Copies the database at this URL under another name on its server; its sessions are terminated."""
    with psycopg.connect(url.replace("/meadowlark?", "/postgres?"), autocommit=True) as server:
        server.execute(_END_SESSIONS)
        server.execute(f"CREATE DATABASE {name} TEMPLATE meadowlark")


class OtherServer:
    """The server of a home; it runs from the beginning. It ends with the thread that started it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.start()

    def start(self) -> None:
        self.postgres = EmbeddedPostgres(self.home)
        self.postgres.__enter__()

    def stop(self) -> None:
        self.postgres.__exit__(None, None, None)

    def kill(self) -> None:
        """PostgreSQL's immediate shutdown."""
        os.kill(postmaster(self.home / "postgres"), signal.SIGQUIT)
        self.stop()

    def restart(self, seconds: float) -> None:
        """Kills it, and starts it after so many seconds."""
        self.kill()
        time.sleep(seconds)
        self.start()
