"""A PostgreSQL server of the system, whose WAL pgBackRest archives."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import psycopg

from tests.tools.drills.programs import as_postgres, found
from tests.whole.robustness.accounts import ACCOUNT

# The newest version that pgBackRest of Debian 12 knows is 15.
_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
_PORT = 5432
_STANZA = "drill"
_START_SECONDS = 60
_CONFIGURATION = """
[global]
repo1-path={folder}/repository
repo1-retention-full=2
log-path={folder}
lock-path={folder}
spool-path={folder}
log-level-console=warn
log-level-file=off
start-fast=y
compress-type=gz
process-max=2
[{stanza}]
pg1-path={data}
pg1-socket-path={folder}
pg1-port={port}
pg1-user=postgres
"""
_SETTINGS = {
    "wal_level": "replica",
    "archive_mode": "on",
    "archive_timeout": "60",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "listen_addresses": "",
    "log_min_messages": "log",
}


def obstacle() -> str:
    """Why pgBackRest has nothing to back up; empty if there is a PostgreSQL."""
    return "" if _PROGRAMS else "needs PostgreSQL of the system (Debian: apt-get install postgresql)"


class BackedUp:
    """A PostgreSQL server whose WAL pgBackRest archives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.data = folder / "data"
        self._configuration = folder / "pgbackrest.conf"
        self._programs = _PROGRAMS[-1]

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._folder}"

    def create(self) -> None:
        shutil.chown(self._folder, ACCOUNT)
        self._configuration.write_text(
            _CONFIGURATION.format(folder=self._folder, data=self.data, port=_PORT, stanza=_STANZA)
        )
        initdb = ["initdb", "-D", str(self.data), "-U", "postgres", "--encoding=UTF8", "--locale=C", "--auth=trust"]
        self._run(str(self._programs / initdb[0]), *initdb[1:], "--data-checksums")
        archive = f"{found('pgbackrest')} --config={self._configuration} --stanza={_STANZA} archive-push %p"
        settings = _SETTINGS | {"archive_command": archive, "unix_socket_directories": str(self._folder)}
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        self.start()
        self.pgbackrest("stanza-create")
        self.pgbackrest("check")

    def start(self) -> None:
        """Returns when it accepts writes."""
        log = ["-l", str(self._folder / "postgres.log")]
        self._run(str(self._programs / "pg_ctl"), "start", "-D", str(self.data), *log, "-w", "-t", str(_START_SECONDS))
        deadline = time.monotonic() + _START_SECONDS
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            while connection.execute("SELECT pg_is_in_recovery()").fetchone() != (False,):
                if time.monotonic() > deadline:
                    raise TimeoutError("the recovery does not end")
                time.sleep(0.1)

    def stop(self) -> None:
        self._run(str(self._programs / "pg_ctl"), "stop", "-D", str(self.data), "-m", "fast", "-w")

    def pgbackrest(self, *command: str) -> float:
        """How many seconds the command took."""
        begin = time.monotonic()
        self._run(found("pgbackrest"), f"--config={self._configuration}", f"--stanza={_STANZA}", *command)
        return time.monotonic() - begin

    def _run(self, *command: str) -> None:
        environment = os.environ | {"HOME": str(self._folder)}
        done = subprocess.run(
            as_postgres(command),
            env=environment,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if "pg_ctl" not in command[0] else subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout}")
