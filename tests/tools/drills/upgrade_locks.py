"""A drill: which locks `migrate` takes in a large database of 1.0.0, and how long requests wait for them.

The database is filled by 1.0.0 with schools like each other. A server of 1.0.0 answers clients that write, and one that
reads, while `migrate` of this version runs. Reported are: locks that conflict with writes, from samples of `pg_locks`;
each wait of 100 milliseconds or more, as PostgreSQL logs it; and the longest answers. No request may wait longer than a
second for a lock, and no write may be lost.
"""

import http.client
import json
import re
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from meadowlark.run.embedded_postgres import DURABLE, EmbeddedPostgres, url_of
from meadowlark.run.embedded_roles import SUPERUSER
from tests.support.ports import ADDRESS
from tests.support.server_processes import new_token
from tests.tools.drills.load import Load
from tests.tools.drills.upgrade import TOP, Servers, manage, release, run_in

MOST_SECONDS = 1.0
_LOGGED_MILLISECONDS = 100
_SAMPLED_SECONDS = 0.02
_CALM_SECONDS = 10.0
_WAIT = re.compile(r"process (\d+) acquired (\w+) on (.+?) after ([\d.]+) ms")
_LOG_SETTINGS = {"log_lock_waits": "on", "deadlock_timeout": f"{_LOGGED_MILLISECONDS}ms"}
# Locks that let writes wait, and those of builds beside them. Relations that are new in a transaction are not seen;
# nobody else can use them.
_LOCKS = """
SELECT l.pid, c.relname, l.mode, l.granted, a.backend_type
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a USING (pid)
 WHERE l.locktype = 'relation' AND c.relnamespace = 'public'::regnamespace AND l.pid <> pg_backend_pid()
   AND l.mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
"""
_IS_FILLED = "SELECT to_regclass('document') IS NOT NULL"
_COUNT = "SELECT count(*), pg_size_pretty(pg_database_size(current_database())) FROM document"


@dataclass
class Span:
    """How long a lock was held or waited for without a pause, at longest, and how often."""

    longest: float = 0.0
    times: int = 0


@dataclass
class Locks:
    """What the samples of `pg_locks` have: by mode, relation, and whether it was granted."""

    spans: defaultdict[tuple[str, str, bool], Span] = field(default_factory=lambda: defaultdict(Span))
    processes: set[int] = field(default_factory=set)

    def sample(self, connection: psycopg.Connection, is_over: threading.Event) -> None:
        """Until it is over."""
        since: dict[tuple[int, str, str, bool], float] = {}
        while not is_over.wait(_SAMPLED_SECONDS):
            now = time.monotonic()
            rows = connection.execute(_LOCKS).fetchall()
            seen = {row[:4] for row in rows if row[4] == "client backend"}
            self.processes |= {row[0] for row in seen}
            for key in seen:
                span = self.spans[key[2], key[1], key[3]]
                if key not in since:
                    span.times += 1
                span.longest = max(span.longest, now - since.setdefault(key, now))
            since = {key: begin for key, begin in since.items() if key in seen}

    def report(self) -> Iterator[str]:
        """Lines, those that exclude readers first."""
        for (mode, relation, is_granted), span in sorted(self.spans.items()):
            what = "held" if is_granted else "waited for"
            yield f"{mode:<26} {relation:<44} {what} {span.times} times, {span.longest:.2f} s at longest"


@dataclass
class Reader:
    """A client that reads one document again and again."""

    port: int
    token: str
    path: str
    slowest: float = 0.0
    answers: int = 0
    wrong: list[str] = field(default_factory=list)

    def run(self, is_over: threading.Event) -> None:
        """Until it is over."""
        with closing(http.client.HTTPConnection(ADDRESS, self.port, timeout=90)) as connection:
            while not is_over.is_set():
                begin = time.monotonic()
                connection.request("GET", self.path, headers={"Authorization": f"Bearer {self.token}"})
                answer = connection.getresponse()
                answer.read()
                self.slowest = max(self.slowest, time.monotonic() - begin)
                self.answers += 1
                if answer.status != 200:
                    self.wrong.append(f"GET {self.path}: {answer.status}")


def run(documents: int, clients: int, home: Path | None) -> int:
    """The drill; returns the status of the command. A home that has a database is taken as it is."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-upgrade-") as folder, ExitStack() as running:
        top = Path(folder)
        top.chmod(0o755)
        old = release(top)
        home = home or top / "home"
        home.mkdir(exist_ok=True)
        postgres = running.enter_context(EmbeddedPostgres(home, DURABLE | _LOG_SETTINGS))
        servers = Servers(home, postgres.url)
        running.callback(servers.stop_all)
        database = running.enter_context(psycopg.connect(url_of(SUPERUSER, home), autocommit=True))
        if not database.execute(_IS_FILLED).fetchone()[0]:  # type: ignore[index]
            run_in(old, servers, "-m", "tests.benchmarks.data", "--size", str(documents), "--unverified")
        print("documents, size: {}, {}".format(*database.execute(_COUNT).fetchone()), flush=True)  # type: ignore[misc]
        wrong = _migrate_under_load(servers, old, clients, database, home)
    for each in wrong[:20]:
        print(f"wrong: {each}")
    print("failed" if wrong else f"passed: no request waited longer than {MOST_SECONDS:g} s for a lock")
    return 1 if wrong else 0


def _migrate_under_load(
    servers: Servers, old: Path, clients: int, database: psycopg.Connection, home: Path
) -> list[str]:
    made = manage(
        old, servers, "create_api_client", f"drill-{time.time_ns()}", "--claim-set", "EdFiSandbox", "--format", "json"
    )
    client = json.loads(made)
    port = servers.start(old)
    token = new_token(port, client["key"], client["secret"])
    load = Load(port, token, clients)
    locks, reader = Locks(), Reader(port, token, _path_of_a_student(database))
    load.start()
    try:
        time.sleep(_CALM_SECONDS)
        calm = max(load.observed.slowest, reader.slowest)
        log_size = (home / "postgres.log").stat().st_size
        with _in_threads(locks, reader, database):
            begin = time.monotonic()
            manage(TOP, servers, "migrate")
            seconds = time.monotonic() - begin
            time.sleep(_CALM_SECONDS)
    finally:
        load.stop()
    print(f"migrate: {seconds:.0f} s; the longest answer before: {calm:.2f} s")
    print(
        f"the longest answers meanwhile: {load.observed.slowest:.2f} s of writers, {reader.slowest:.2f} s of a reader"
    )
    print(f"answers: {dict(load.observed.statuses)} and {reader.answers} to the reader")
    print("\n".join(locks.report()))
    waits = _waits((home / "postgres.log").read_bytes()[log_size:].decode(errors="replace"), locks.processes)
    print("\n".join(f"a request waited {wait:.2f} s for {what}" for what, wait in waits) or "no request waited 0.1 s")
    wrong = [f"a request waited {wait:.2f} s for {what}" for what, wait in waits if wait > MOST_SECONDS]
    wrong += load.observed.wrong + reader.wrong + load.differences(servers.environment["DATABASE_URL"])
    return wrong + [f"{count} answers {status}" for status, count in load.observed.statuses.items() if status >= 500]


@contextmanager
def _in_threads(locks: Locks, reader: Reader, database: psycopg.Connection) -> Iterator[None]:
    is_over = threading.Event()
    threads = [
        threading.Thread(target=locks.sample, args=(database, is_over)),
        threading.Thread(target=reader.run, args=(is_over,)),
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _waits(log: str, migrating: set[int]) -> list[tuple[str, float]]:
    """What others than `migrate` waited for, and how many seconds, the longest first."""
    found = [
        (f"{mode} on {what}", float(milliseconds) / 1000)
        for process, mode, what, milliseconds in _WAIT.findall(log)
        if int(process) not in migrating
    ]
    return sorted(found, key=lambda each: -each[1])


def _path_of_a_student(database: psycopg.Connection) -> str:
    query = """
    SELECT document_uuid::text FROM document d JOIN resource_type t ON t.id = d.resource_type_id
     WHERE t.name = 'Student' ORDER BY d.id LIMIT 1
    """
    [(id_,)] = database.execute(query).fetchall()
    return f"/data/ed-fi/students/{id_}"
