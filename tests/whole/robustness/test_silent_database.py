"""A database server that accepts what is sent and answers nothing occupies no thread for ever."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import psycopg
import pytest

from meadowlark.run.embedded_postgres import EmbeddedPostgres
from tests.whole.robustness.real_server import RealServer
from tests.whole.robustness.silent_proxy import SilentProxy
from tests.whole.robustness.waiting import wait_until

STUDENTS = "/data/ed-fi/students"
STUDENT = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
NUMBERS = count(1)
THREADS = 4


class TwoAddresses(RealServer):
    """Its database has two addresses, as a cluster has: the first is the leader's."""

    def start_database(self) -> None:
        postgres = self._database.enter_context(EmbeddedPostgres(self.home))
        self.direct_url = postgres.url
        unix_socket = self.data / ".s.PGSQL.5432"
        self.addresses = [self._database.enter_context(SilentProxy(unix_socket)) for _ in range(2)]
        hosts = ",".join(f"127.0.0.1:{address.port}" for address in self.addresses)
        self.database_url = f"postgresql://meadowlark@{hosts}/meadowlark?connect_timeout=2"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prepared_home) -> Iterator[TwoAddresses]:
    home: Path = prepared_home(tmp_path_factory.mktemp("server") / "home")
    settings = {"MEADOWLARK_WORKERS": "1", "MEADOWLARK_THREADS": str(THREADS), "MEADOWLARK_STATEMENT_SECONDS": "1"}
    with TwoAddresses(home, **settings) as server:
        yield server


def post(server: RealServer) -> tuple[int, float]:
    """The status, and how many seconds it took."""
    begin = time.monotonic()
    with server.client() as client:
        answer = client.send("POST", STUDENTS, STUDENT | {"studentUniqueId": str(next(NUMBERS))})
    return answer.status, time.monotonic() - begin


def open_all_connections(server: TwoAddresses) -> None:
    with psycopg.connect(server.direct_url, autocommit=True) as database, ThreadPoolExecutor(THREADS) as clients:
        with database.transaction():
            database.execute("LOCK TABLE document IN EXCLUSIVE MODE")
            posts = [clients.submit(post, server) for _ in range(THREADS)]
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'document'::regclass"
            wait_until(lambda: database.execute(waiting).fetchone() == (THREADS,), 1)
        assert [each.result()[0] for each in posts] == [201] * THREADS


def test_requests_go_to_the_other_address(server: TwoAddresses) -> None:
    """The first after MEADOWLARK_STATEMENT_SECONDS and five; idle connections to the silent address are not tried."""
    open_all_connections(server)
    server.addresses[0].fall_silent()
    try:
        status, _ = post(server)
        others = [post(server) for _ in range(THREADS)]
    finally:
        server.addresses[0].answer_again()

    assert status == 201
    assert [other[0] for other in others] == [201] * THREADS
    assert max(other[1] for other in others) < 1


@pytest.mark.long
def test_without_another_address_it_is_503(server: TwoAddresses) -> None:
    with ExitStack() as afterwards:
        for address in server.addresses:
            address.fall_silent()
            afterwards.callback(address.answer_again)
        status, seconds = post(server)

    assert status == 503
    assert seconds < 20
    wait_until(lambda: post(server)[0] == 201, 10)
