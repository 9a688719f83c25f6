"""Behind PgBouncer in transaction mode, where every transaction may run on another connection to PostgreSQL."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.whole.robustness.pgbouncer import running_pooler
from tests.whole.robustness.real_server import TOP, RealServer

STUDENT = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}


class PooledServer(RealServer):
    """Reaches its database only through the pooler, for migrations and commands too."""

    def start_database(self) -> None:
        super().start_database()
        pooler = running_pooler(self.data, self.database_url, self.home)
        self.database_url = self._database.enter_context(pooler)

    def _environment(self) -> dict[str, str]:
        return super()._environment() | {"MEADOWLARK_TRANSACTION_POOLING": "true"}


@pytest.fixture(scope="module")
def server(prepared_home) -> Iterator[PooledServer]:
    if shutil.which("pgbouncer") is None:
        pytest.skip("needs the program pgbouncer")
    with ExitStack() as stack:
        # Outside pytest's folder, which PostgreSQL's account may not enter.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="meadowlark-")))
        folder.chmod(0o755)
        yield stack.enter_context(PooledServer(prepared_home(folder / "home")))


def test_concurrent_clients_read_and_write(server: PooledServer) -> None:
    """All common requests, from more threads than there are connections."""
    numbers = count()

    def work(_: int) -> list[int]:
        statuses = []
        with server.client() as client:
            for number in (next(numbers) for _ in range(6)):
                student = STUDENT | {"studentUniqueId": f"pooled-{number}"}
                created = client.send("POST", "/data/ed-fi/students", student)
                path = created.headers["Location"].partition(f":{server.port}")[2]
                changed = student | {"id": path.rpartition("/")[2], "firstName": "June"}
                answers = [
                    client.send("PUT", path, changed),
                    client.send("GET", path),
                    client.send("GET", f"/data/ed-fi/students?studentUniqueId=pooled-{number}&totalCount=true"),
                    client.send("GET", "/data/ed-fi/students?limit=3"),
                    client.send("DELETE", path),
                ]
                statuses += [answer.status for answer in (created, *answers)]
        return statuses

    with ThreadPoolExecutor(8) as pool:
        statuses = [status for worker in pool.map(work, range(8)) for status in worker]

    assert statuses == [201, 204, 200, 200, 200, 204] * (8 * 6)


def test_commands_run(server: PooledServer) -> None:
    """Including the preparation of a database, which takes a lock against concurrent preparations."""
    prepare = [sys.executable, "-m", "meadowlark.prepare"]
    subprocess.run(prepare, cwd=TOP, env=server._environment(), check=True)

    assert b'{"resource": "/ed-fi/schoolYearTypes"' in server.manage("export_documents")
    assert b"documents agree" in server.manage("verify_integrity")


def test_a_server_without_the_pooler_setting_does_not_start(server: PooledServer) -> None:
    environment = server._environment() | {"MEADOWLARK_TRANSACTION_POOLING": "false"}

    prepared = subprocess.run(
        [sys.executable, "-m", "meadowlark.prepare"],
        cwd=TOP,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (prepared.returncode, prepared.stderr) == (
        1,
        "The database is reached through a pooler in transaction mode (pool_mode = transaction of PgBouncer): set"
        " MEADOWLARK_TRANSACTION_POOLING=true.\n",
    )


def test_a_load_does_not_change_other_sessions(server: PooledServer) -> None:
    """Asynchronous commits and temporary tables apply to the load only."""
    students = server.home / "students.jsonl"
    with students.open("w") as file:
        file.writelines(f"{json.dumps(STUDENT | {'studentUniqueId': f'loaded-{n}'})}\n" for n in range(6_000))

    server.manage("load_documents", str(students), "--strict", "--processes", "3")

    with ExitStack() as all_at_once:
        sessions = [all_at_once.enter_context(psycopg.connect(server.database_url)) for _ in range(3)]
        assert [session.execute("SHOW synchronous_commit").fetchone() for session in sessions] == [("on",)] * 3
        assert sessions[0].execute("SELECT FROM pg_class WHERE relname = 'staged_document'").fetchall() == []
