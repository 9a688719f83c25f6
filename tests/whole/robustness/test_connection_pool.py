"""Database connections belong to the requests that use them, not to threads."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.whole.robustness.real_server import RealServer
from tests.whole.robustness.waiting import wait_until

CONCURRENT = 6
STUDENT = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
NUMBERS = count(1)
STUDENTS = "/data/ed-fi/students"


SETTINGS = {
    "MEADOWLARK_WORKERS": "1",
    "MEADOWLARK_THREADS": "8",
    "MEADOWLARK_GROUP_MILLISECONDS": "0",
    "MEADOWLARK_CONNECTION_MAX_AGE": "5",
    "MEADOWLARK_LOCK_SECONDS": "60",
    "MEADOWLARK_STATEMENT_SECONDS": "60",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prepared_home: Callable[[Path], Path]) -> Iterator[RealServer]:
    with RealServer(prepared_home(tmp_path_factory.mktemp("server") / "home"), **SETTINGS) as server:
        yield server


def post(server: RealServer) -> int:
    with server.client() as client:
        return client.send("POST", STUDENTS, STUDENT | {"studentUniqueId": str(next(NUMBERS))}).status


def use_many_connections(server: RealServer, database: psycopg.Connection) -> None:
    """Use many connections by requests that wait for a lock at the same time."""
    with ThreadPoolExecutor(CONCURRENT) as clients, database.transaction():
        database.execute("LOCK TABLE document IN EXCLUSIVE MODE")
        posts = [clients.submit(post, server) for _ in range(CONCURRENT)]
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'document'::regclass"
        wait_until(lambda: database.execute(waiting).fetchone() == (CONCURRENT,), 60)
    assert [each.result() for each in posts] == [201] * CONCURRENT


SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'meadowlark'"


def test_requests_one_after_another_use_the_same_connection(server):
    with psycopg.connect(server.database_url, autocommit=True) as database:
        use_many_connections(server, database)
        [before] = database.execute("SELECT clock_timestamp()").fetchone()
        with server.client() as client:
            assert {client.send("GET", STUDENTS).status for _ in range(3 * CONCURRENT)} == {200}

        assert database.execute(f"{SESSIONS} AND query_start > %s", [before]).fetchone() == (1,)


def test_connections_that_are_no_longer_needed_are_closed(server):
    with psycopg.connect(server.database_url, autocommit=True) as database, server.client() as client:
        use_many_connections(server, database)

        def one_is_left() -> bool:
            assert client.send("GET", STUDENTS).status == 200
            return database.execute(SESSIONS).fetchone() <= (1,)

        wait_until(one_is_left, 60)


def test_a_lost_connection_fails_no_request(server):
    """Also of those that have not been used for long."""
    with psycopg.connect(server.database_url, autocommit=True) as database:
        use_many_connections(server, database)
        database.execute(SESSIONS.replace("count(*)", "pg_terminate_backend(pid)"))
        use_many_connections(server, database)
