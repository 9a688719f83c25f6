"""Data stores behind gunicorn with several workers, on two real PostgreSQL servers."""

import json
import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.test import override_settings

from edfi_api.core.data_stores.connection_strings import encrypt
from tests.support.ports import is_answering
from tests.whole.robustness import streaming_replica
from tests.whole.robustness.accounts import let_in
from tests.whole.robustness.other_server import OtherServer, copy_database
from tests.whole.robustness.real_server import RealClient, RealServer
from tests.whole.robustness.streaming_replica import StreamingReplica
from tests.whole.robustness.waiting import wait_until

WORKERS = 3
_SECONDS_TO_CLOSE = 10
STORE_CONNECTIONS = 2
REPLICA_SECONDS = 3
KEY = "a key of tests"
STUDENT = {"studentUniqueId": "1", "firstName": "Ada", "lastSurname": "Diaz", "birthDate": "2010-01-01"}


class Stores(OtherServer):
    """A server with data stores, and the second PostgreSQL with their databases."""

    def __init__(self, server: RealServer, home: Path) -> None:
        super().__init__(home)
        self.server = server

    def add(self, year: str, url: str) -> None:
        """A copy of the database at this URL as the data store of a year, assigned to the client of the tests."""
        name = f"store_{year}"
        copy_database(url, name)
        with override_settings(EDFI_API={"STORE_KEYS": (KEY,)}):
            connection = encrypt(url.replace("/meadowlark?", f"/{name}?"))
        with psycopg.connect(self.server.database_url, autocommit=True) as control:
            [store] = control.execute(
                "INSERT INTO data_store (name, type, state, connection, revision)"
                " VALUES (%s, '', 'online', %s, 1) RETURNING id",
                [name, connection],
            ).fetchone()
            control.execute(
                "INSERT INTO data_store_context (data_store_id, key, value) VALUES (%s, 'schoolYear', %s)",
                [store, year],
            )
            control.execute(
                "INSERT INTO api_client_data_store (api_client_id, data_store_id)"
                " SELECT id, %s FROM security_apiclient",
                [store],
            )

    def add_replica(self, year: str, url: str) -> None:
        """A replica of the second server as a derivative of the data store of a year."""
        with override_settings(EDFI_API={"STORE_KEYS": (KEY,)}):
            connection = encrypt(url.replace("/meadowlark?", f"/store_{year}?"))
        with psycopg.connect(self.server.database_url, autocommit=True) as control:
            control.execute(
                "INSERT INTO data_store_derivative (data_store_id, type, connection, revision)"
                " SELECT id, 'ReadReplica', %s, 1 FROM data_store WHERE name = %s",
                [connection, f"store_{year}"],
            )

    def send(self, year: str, method: str = "GET", body: object = None) -> int:
        """On a connection of its own, so that any worker may answer."""
        with closing(RealClient(self.server.port, self.server.token)) as client:
            return client.send(method, f"/{year}/data/ed-fi/students", body).status

    def counted_connections(self) -> dict[str, int]:
        """The metric, by year, of data stores that have any connection."""
        with self.server.client() as client:
            text = client.send("GET", "/metrics").body.decode()
        with psycopg.connect(self.server.database_url) as control:
            names = dict(control.execute("SELECT id::text, name FROM data_store").fetchall())
        found = re.findall(r'^meadowlark_store_connections\{data_store="(\d+)"\} (\d+)', text, re.MULTILINE)
        return {names[id_].removeprefix("store_"): int(number) for id_, number in found if int(number)}

    def found(self, year: str, token: str) -> set[str]:
        """The ids of the students that a client finds; of several answers, which have to agree."""
        answers = []
        for _ in range(2 * WORKERS):
            with closing(RealClient(self.server.port, token)) as client:
                answer = client.send("GET", f"/{year}/data/ed-fi/students")
            assert answer.status == 200, answer.body
            answers.append({student["studentUniqueId"] for student in json.loads(answer.body)})
        assert all(each == answers[0] for each in answers)
        return answers[0]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, prepared_home: Callable[[Path], Path]) -> Iterator[Stores]:
    settings = {
        "MEADOWLARK_ROUTE_QUALIFIERS": "schoolYear",
        "MEADOWLARK_STORE_KEY": KEY,
        "MEADOWLARK_WORKERS": str(WORKERS),
        "MEADOWLARK_STORE_CONNECTIONS": str(STORE_CONNECTIONS),
        "MEADOWLARK_STORE_SECONDS": "1",
        "MEADOWLARK_REPLICA_SECONDS": str(REPLICA_SECONDS),
    }
    # Outside pytest's folder, which PostgreSQL's account may not enter.
    with (
        tempfile.TemporaryDirectory(prefix="meadowlark-") as folder,
        RealServer(prepared_home(tmp_path_factory.mktemp("server") / "home"), **settings) as server,
    ):
        Path(folder).chmod(0o755)
        stores = Stores(server, prepared_home(Path(folder) / "stores"))
        stores.add("2026", stores.postgres.url)
        yield stores
        stores.kill()


def test_a_store_made_while_workers_run_is_answered_by_all_of_them(stores: Stores) -> None:
    assert {stores.send("2026") for _ in range(12)} == {200}
    assert stores.send("2027") == 404
    time.sleep(1.1)  # Each worker looks for changes once a second at most.

    stores.add("2027", stores.postgres.url)

    assert {stores.send("2027") for _ in range(12)} == {200}
    assert stores.send("2027", "POST", STUDENT) == 201
    assert stores.send("2026", "POST", STUDENT) == 201


def test_connections_to_stores_are_limited(stores: Stores) -> None:
    for year in ("2031", "2032", "2033", "2034"):
        stores.add(year, stores.postgres.url)
    time.sleep(1.1)
    years = ("2026", "2031", "2032", "2033", "2034")

    assert {stores.send(year) for year in years * 4} == {200}

    with psycopg.connect(stores.postgres.url, autocommit=True) as database:
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'meadowlark/%'"
        deadline = time.monotonic() + _SECONDS_TO_CLOSE
        # A backend ends shortly after its connection was closed.
        while (sessions := database.execute(count).fetchone()[0]) > WORKERS * STORE_CONNECTIONS:
            assert time.monotonic() < deadline, sessions
            time.sleep(0.05)
        assert sessions > 0
        assert sum(stores.counted_connections().values()) == sessions
        for worker in stores.server.workers():
            worker.kill()
        wait_until(lambda: database.execute(count).fetchone() == (0,), 30)
        wait_until(lambda: is_answering(stores.server.port), 30)
        assert stores.send("2026") == 200
        assert stores.counted_connections() == {"2026": 1}


@pytest.mark.long
def test_a_killed_server_hurts_no_store_on_another(stores: Stores) -> None:
    stores.add("2040", stores.server.database_url)
    time.sleep(1.1)
    assert stores.send("2040") == 200
    answers: list[int] = []
    stop = threading.Event()

    def load() -> None:
        while not stop.is_set():
            answers.append(stores.send("2040"))

    thread = threading.Thread(target=load)
    thread.start()
    try:
        stores.kill()
        refused = {stores.send("2026") for _ in range(20)}
        wait_until(lambda: len(answers) > 1, 30)
    finally:
        stop.set()
        thread.join()
        stores.start()

    assert refused == {503}
    assert set(answers) == {200}
    wait_until(lambda: {stores.send("2026") for _ in range(6)} == {200}, 30)


@pytest.mark.long
def test_known_tokens_reach_stores_while_the_admin_database_is_away(stores: Stores) -> None:
    """For longer than a token is cached, on every worker; unknown and new tokens wait for it."""
    stores.add("2050", stores.postgres.url)
    time.sleep(1.1)
    # On each of the workers, but for a chance of 10^-9.
    assert {stores.send("2050") for _ in range(60)} == {200}
    known = stores.server.token
    stores.server.kill_database(signal.SIGQUIT)
    try:
        time.sleep(stores.server.TOKEN_CACHE_SECONDS + 0.5)
        answers = [stores.send("2050") for _ in range(12)]
        stores.server.token = "unknown"
        unknown = stores.send("2050")
    finally:
        stores.server.token = known
        stores.server.start_database()

    assert set(answers) == {200}
    assert unknown == 503
    wait_until(lambda: {stores.send("2050") for _ in range(6)} == {200}, 30)


@pytest.mark.long
@pytest.mark.skipif(not streaming_replica.is_possible(), reason="pg_basebackup is not installed here")
def test_reads_of_a_store_go_to_its_streaming_replica_while_it_is_fresh(stores: Stores) -> None:
    """Writes never; and not those of the client that wrote, nor while the replica lags, is down or is promoted."""
    reader = stores.server.new_token("reader")
    stores.add("2060", stores.postgres.url)
    let_in(stores.home / "postgres", stores.postgres.url)
    with StreamingReplica(stores.home.parent / "replica", stores.postgres.url) as replica:
        stores.add_replica("2060", replica.url)
        time.sleep(1.1)
        wait_until(lambda: stores.found("2060", reader) == set(), 30)
        replica.catch_up()
        replica.pause()

        assert stores.send("2060", "POST", STUDENT) == 201
        assert stores.found("2060", reader) == set()
        assert stores.found("2060", stores.server.token) == {"1"}
        time.sleep(REPLICA_SECONDS + 1.2)  # Measured by the clock of the server.
        assert stores.found("2060", reader) == {"1"}

        replica.catch_up()
        replica.stop()
        assert stores.found("2060", reader) == {"1"}
        replica.start()
        replica.execute("SELECT pg_promote()")
        assert stores.send("2060", "POST", STUDENT | {"studentUniqueId": "2"}) == 201
        assert stores.found("2060", reader) == {"1", "2"}
        with psycopg.connect(replica.url.replace("/meadowlark?", "/store_2060?")) as promoted:
            found = promoted.execute("SELECT body ->> 'studentUniqueId' FROM document WHERE body ? 'studentUniqueId'")
            assert found.fetchall() == [("1",)]
