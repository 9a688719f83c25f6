"""`make drill-backup`: pgBackRest backs a database up while clients write, and restores it to a moment.

    python -m tests.tools.drills backup [--clients N]

PostgreSQL of the system archives its WAL with pgBackRest. Under the load of the failover drill a full and an
incremental backup are made; then the load pauses, the documents are counted, and the moment is noted; then clients
write on. The database is restored to that moment. The exit status is 1 unless it holds the documents of the moment,
bodies agree with their keys and references, and change versions go on above all that clients have seen once they are
raised.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import httpx
import psycopg

from tests.tools.drills.load import Load
from tests.tools.drills.network import enable_loopback
from tests.tools.drills.pgbackrest import BackedUp
from tests.whole.robustness.real_server import RealServer

NEEDED = ("pgbackrest",)
SECONDS = 600
_WRITES = 200
_STATE = "SELECT clock_timestamp()::text, (SELECT count(*) FROM document)"
# As in the page about backups.
_RAISE_VERSIONS = "SELECT setval('change_version', nextval('change_version') + 1000000)"


class State(NamedTuple):
    """The state of a database at a moment; `versions` by the names of the documents of the load."""

    moment: str
    documents: int
    versions: dict[str, int]
    newest_change: int


class BackedUpServer(RealServer):
    """Its database is the one that is backed up."""

    def __init__(self, home: Path, postgres: BackedUp) -> None:
        super().__init__(home)
        self._postgres = postgres

    def start_database(self) -> None:
        with psycopg.connect(self._postgres.url("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE meadowlark")
        self.database_url = self._postgres.url("meadowlark")

    def newest_change_version(self) -> int:
        """Return the newest change version as clients of change queries see it."""
        answer = httpx.get(
            f"http://127.0.0.1:{self.port}/changeQueries/v1/availableChangeVersions",
            headers={"Authorization": f"Bearer {self.token}"},
        )
        return int(answer.raise_for_status().json()["newestChangeVersion"])


def main() -> int:
    """The command line of the part that runs in namespaces; see `__main__`."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.drills.backup")
    parser.add_argument("folder", type=Path)
    parser.add_argument("clients", type=int)
    options = parser.parse_args()
    enable_loopback()
    home, folder = options.folder / "server", options.folder / "postgres"
    home.mkdir()
    folder.mkdir()
    postgres = BackedUp(folder)
    postgres.create()
    with BackedUpServer(home, postgres) as server:
        load = Load(server.port, server.token, options.clients)
        wrong = _drill(server, postgres, load)
        print(server.manage("verify_integrity").decode().rstrip())
    wrong += load.observed.wrong
    for text in wrong:
        print(text)
    return 1 if wrong else 0


def _drill(server: BackedUpServer, postgres: BackedUp, load: Load) -> list[str]:
    """What went wrong."""
    load.start()
    for kind in ("full", "incr"):
        _write_on(load)
        print(f"{kind} backup under load: {postgres.pgbackrest(f'--type={kind}', 'backup'):.1f} s", flush=True)
    _write_on(load)
    load.stop()
    wrong = load.differences(server.database_url)
    noted = _state(server, load)
    load.start()
    _write_on(load)
    load.stop()
    lost = _state(server, load)
    print(f"noted: {noted.documents} documents, newest change version {noted.newest_change}, at {noted.moment}")
    print(f"later: {lost.documents} documents, newest change version {lost.newest_change}", flush=True)
    _restore(postgres, noted.moment)
    restored = _state(server, load)
    print(f"restored: {restored.documents} documents, newest change version {restored.newest_change}")
    if (restored.documents, restored.versions) != (noted.documents, noted.versions):
        wrong.append(f"The restored database differs: {restored} instead of {noted}.")
    with psycopg.connect(server.database_url, autocommit=True) as database:
        database.execute(_RAISE_VERSIONS)
    load.forget()
    load.start()
    _write_on(load)
    load.stop()
    newest = server.newest_change_version()
    print(f"after raising the change versions and further writes: newest change version {newest}", flush=True)
    if newest <= lost.newest_change:
        wrong.append("Clients of change queries would miss what is written after the restore.")
    return wrong + load.differences(server.database_url)


def _restore(postgres: BackedUp, moment: str) -> None:
    postgres.stop()
    seconds = postgres.pgbackrest("--delta", "--type=time", f"--target={moment}", "--target-action=promote", "restore")
    begin = time.monotonic()
    postgres.start()
    print(f"restored in {seconds:.1f} s, recovered in {time.monotonic() - begin:.1f} s", flush=True)


def _state(server: BackedUpServer, load: Load) -> State:
    with psycopg.connect(server.database_url, autocommit=True) as database:
        row = database.execute(_STATE).fetchone()
    assert row is not None
    return State(row[0], row[1], load.stored(server.database_url), server.newest_change_version())


def _write_on(load: Load) -> None:
    begin, before = time.monotonic(), len(load.observed.writes)
    while len(load.observed.writes) < before + _WRITES:
        if time.monotonic() > begin + SECONDS:
            raise TimeoutError("the load does not write")
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
