"""Faults of the database are answered with 503 and `Retry-After`, and service recovers without a restart."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.support import superuser
from tests.whole.robustness.real_server import Answer, RealClient, RealServer
from tests.whole.robustness.waiting import wait_until

STUDENTS = "/data/ed-fi/students"
STUDENT = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
_RECOVERY_SECONDS = 10
_MEGABYTE = 2**20
_numbers = count(1)
# The students of all acknowledged writes.
acknowledged: set[str] = set()

Request = Callable[[RealClient], Answer]


def read(client: RealClient) -> Answer:
    return client.send("GET", f"{STUDENTS}?limit=1")


def write(client: RealClient) -> Answer:
    name = f"faults {next(_numbers)}"
    answer = client.send("POST", STUDENTS, STUDENT | {"studentUniqueId": name})
    if answer.status == 201:
        acknowledged.add(name)
    return answer


def request_token(server: RealServer) -> Answer:
    with closing(RealClient(server.port, token="")) as client:
        return client.send("POST", "/oauth/token", server.credentials)


def assert_is_503_with_retry_after(answer: Answer) -> None:
    assert answer.status == 503, answer
    assert answer.headers["Retry-After"] == "5"
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert json.loads(answer.body)["type"] == "urn:ed-fi:api:service-unavailable"


def assert_is_answered_again(server: RealServer, request: Request, status: int) -> None:
    """Assert an answer by every thread of every worker, within seconds, without intervention."""
    with ExitStack() as open_clients:
        clients = [open_clients.enter_context(server.client()) for _ in range(8)]

        def all_answer() -> bool:
            answers = {request(client).status for client in clients}
            assert answers <= {status, 503}
            return answers == {status}

        wait_until(all_answer, _RECOVERY_SECONDS)


@contextmanager
def administrator(server: RealServer) -> Iterator[psycopg.Connection]:
    with psycopg.connect(superuser.url_of(server.database_url), autocommit=True) as connection:
        yield connection


@contextmanager
def before_each_insert(server: RealServer, statement: str) -> Iterator[None]:
    """Executes the statement by a trigger before each insert of a document."""
    with administrator(server) as connection:
        connection.execute(
            f"CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {statement}; END $$;"
            "CREATE TRIGGER meddle BEFORE INSERT ON document EXECUTE FUNCTION meddle()"
        )
        try:
            yield
        finally:
            connection.execute("DROP FUNCTION meddle CASCADE")


@pytest.fixture
def client(real_server: RealServer) -> Iterator[RealClient]:
    with real_server.client() as client:
        assert write(client).status == 201
        yield client


def test_a_database_without_a_free_connection_is_503(real_server: RealServer, client: RealClient) -> None:
    with ExitStack() as connections:
        hogs = [connections.enter_context(psycopg.connect(real_server.database_url, autocommit=True))]
        hogs[0].execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'meadowlark'"
        )
        with pytest.raises(psycopg.OperationalError, match="connection slots are reserved"):
            while True:
                hogs.append(connections.enter_context(psycopg.connect(real_server.database_url)))

        assert_is_503_with_retry_after(read(client))
        assert_is_503_with_retry_after(write(client))
        refused = request_token(real_server)
        assert (refused.status, refused.headers["Retry-After"]) == (503, "5")

    assert_is_answered_again(real_server, read, 200)
    assert_is_answered_again(real_server, write, 201)


def test_a_read_only_database_is_503_for_writes(real_server: RealServer, client: RealClient) -> None:
    """As after a failover to a standby, or when a provider makes an almost full database read-only."""
    with administrator(real_server) as connection:
        connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        connection.execute("SELECT pg_reload_conf()")
    try:
        assert_is_503_with_retry_after(_until_refused(write, client))
        assert read(client).status == 200
        refused = request_token(real_server)
        assert (refused.status, refused.headers["Retry-After"]) == (503, "5")
    finally:
        with administrator(real_server) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute("ALTER SYSTEM RESET default_transaction_read_only")
            connection.execute("SELECT pg_reload_conf()")

    assert_is_answered_again(real_server, write, 201)


def _until_refused(request: Request, client: RealClient) -> Answer:
    for _ in range(100):
        if (answer := request(client)).status >= 300:
            return answer
        time.sleep(0.02)
    raise AssertionError("never refused")


def test_a_lock_timeout_is_503(real_server: RealServer, client: RealClient) -> None:
    with administrator(real_server) as connection, connection.transaction():
        connection.execute("LOCK TABLE document IN ACCESS EXCLUSIVE MODE")

        start = time.monotonic()
        assert_is_503_with_retry_after(read(client))
        assert_is_503_with_retry_after(write(client))
        assert time.monotonic() - start < 4 * real_server.LOCK_SECONDS

    assert_is_answered_again(real_server, read, 200)
    assert_is_answered_again(real_server, write, 201)


def test_a_statement_timeout_is_503(real_server: RealServer, client: RealClient) -> None:
    with before_each_insert(real_server, "PERFORM pg_sleep(60)"):
        start = time.monotonic()
        assert_is_503_with_retry_after(write(client))
        assert time.monotonic() - start < 3 * real_server.STATEMENT_SECONDS

    assert_is_answered_again(real_server, write, 201)


def test_a_killed_process_of_the_database_is_survived(real_server: RealServer, client: RealClient) -> None:
    """As by the OOM killer: PostgreSQL then terminates all sessions and recovers."""
    with administrator(real_server) as connection:
        [pid] = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'meadowlark' LIMIT 1"
        ).fetchone()

    psutil.Process(pid).kill()

    assert_is_answered_again(real_server, write, 201)
    assert_is_answered_again(real_server, read, 200)


def test_a_database_out_of_memory_is_503(real_server: RealServer, client: RealClient) -> None:
    with before_each_insert(real_server, "RAISE EXCEPTION USING ERRCODE = 'out_of_memory'"):
        assert_is_503_with_retry_after(write(client))

    assert_is_answered_again(real_server, write, 201)


class SmallDisk:
    """A file system of limited size for PostgreSQL's data."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0755", "tmpfs", str(folder)]
        if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("only root may mount a small disk")

    def fill_but_for(self, free: int) -> Path:
        """Creates a file that leaves this space free."""
        space = os.statvfs(self.folder)
        ballast = self.folder / "ballast"
        ballast.write_bytes(bytes(space.f_bavail * space.f_bsize - free))
        return ballast

    def give_to_owner_of(self, path: Path) -> None:
        os.chown(self.folder, path.stat().st_uid, path.stat().st_gid)


@pytest.fixture
def small_disk() -> Iterator[Callable[[int], SmallDisk]]:
    """Outside pytest's folders, which PostgreSQL's account may not enter."""
    folder = Path(tempfile.mkdtemp())
    yield lambda megabytes: SmallDisk(folder, megabytes)
    subprocess.run(["umount", "--lazy", str(folder)], check=False)
    folder.rmdir()


def test_a_full_disk_of_documents_is_503(real_server: RealServer, client: RealClient, small_disk) -> None:
    """Reads succeed; writes succeed as soon as there is space."""
    disk = small_disk(8)
    disk.give_to_owner_of(real_server.data / "PG_VERSION")
    with administrator(real_server) as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{disk.folder}'")
        connection.execute("ALTER TABLE document SET TABLESPACE small")
        ballast = disk.fill_but_for(free=64 * 1024)
        try:
            answers = (write(client) for _ in range(1000))
            assert_is_503_with_retry_after(next(answer for answer in answers if answer.status != 201))
            assert read(client).status == 200

            ballast.unlink()

            assert_is_answered_again(real_server, write, 201)
        finally:
            ballast.unlink(missing_ok=True)
            connection.execute("ALTER TABLE document SET TABLESPACE pg_default")
            connection.execute("DROP TABLESPACE small")


@pytest.mark.long
def test_a_full_disk_of_the_write_ahead_log_loses_no_acknowledged_write(
    real_server: RealServer, client: RealClient, small_disk
) -> None:
    """PostgreSQL terminates. After a restart with free space all acknowledged writes are stored."""
    disk = small_disk(256)
    _move_log(real_server, disk.folder / "pg_wal")
    try:
        disk.give_to_owner_of(real_server.data / "PG_VERSION")
        assert write(client).status == 201
        ballast = disk.fill_but_for(free=_MEGABYTE)
        with administrator(real_server) as connection, pytest.raises(psycopg.OperationalError):
            while True:
                connection.execute("SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000))")

        assert_is_503_with_retry_after(write(client))

        ballast.unlink()
        # PostgreSQL 18 does not end after a smart or fast shutdown during its recovery.
        real_server.kill_database(signal.SIGQUIT)
        real_server.start_database()
        assert_is_answered_again(real_server, write, 201)
        assert real_server.stored_student_ids() >= acknowledged
    finally:
        _move_log(real_server, real_server.data / "pg_wal")


def _move_log(server: RealServer, place: Path) -> None:
    server.kill_database(signal.SIGINT)
    link = server.data / "pg_wal"
    kept = link.resolve()
    if link.is_symlink():
        link.unlink()
    shutil.move(kept, place)
    owner = (server.data / "PG_VERSION").stat()
    for path in (place, *place.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)
    if place != link:
        link.symlink_to(place)
    server.start_database()


def test_the_log_of_the_server_has_no_traceback(real_server: RealServer) -> None:
    """Runs last, after all tests above."""
    assert "Traceback" not in real_server.log.read_text()
