"""Collections are read from a replica, and every client sees its own writes."""

import json
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path

import psycopg
import pytest

from meadowlark.run.embedded_postgres import url
from tests.whole.robustness import streaming_replica
from tests.whole.robustness.accounts import let_in
from tests.whole.robustness.real_server import RealClient, RealServer
from tests.whole.robustness.streaming_replica import StreamingReplica
from tests.whole.robustness.waiting import wait_until

pytestmark = pytest.mark.skipif(not streaming_replica.is_possible(), reason="pg_basebackup is not installed here")

# Long enough for a busy machine to send a request in between.
SECONDS = 6
# After this time a write is no longer considered recent: see queries/replica.py.
FORGOTTEN = SECONDS + 1.2
_numbers = count(1)


@pytest.fixture(scope="module")
def server(prepared_home) -> Iterator[RealServer]:
    # Outside pytest's folder, which PostgreSQL's account may not enter.
    with tempfile.TemporaryDirectory(prefix="meadowlark-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        environment = {"DATABASE_REPLICA_URL": url(folder / "replica"), "MEADOWLARK_REPLICA_SECONDS": str(SECONDS)}
        with RealServer(prepared_home(folder / "primary"), **environment) as server:
            let_in(server.data, server.database_url)
            yield server


@pytest.fixture(scope="module")
def the_replica(server) -> Iterator[StreamingReplica]:
    with StreamingReplica(server.home.parent / "replica", server.database_url) as replica:
        yield replica


@pytest.fixture
def replica(the_replica) -> StreamingReplica:
    """The replica, up to date."""
    the_replica.catch_up()
    return the_replica


@pytest.fixture(scope="module")
def reading_token(server) -> str:
    return server.new_token("reader")


@pytest.fixture
def writer(server) -> Iterator[RealClient]:
    with server.client() as client:
        yield client


@pytest.fixture
def reader(server, reading_token) -> Iterator[RealClient]:
    """Another API client, which does not write."""
    with closing(RealClient(server.port, reading_token)) as client:
        yield client


def post_term(client: RealClient) -> str:
    """Posts a descriptor and returns its code value."""
    code = f"Term {next(_numbers)}"
    body = {"namespace": "uri://ed-fi.org/TermDescriptor", "codeValue": code, "shortDescription": code}
    answer = client.send("POST", "/data/ed-fi/termDescriptors", body)
    assert answer.status == 201, answer.body
    return code


def is_found(client: RealClient, code: str, more: str = "") -> bool:
    path = f"/data/ed-fi/termDescriptors?codeValue={code.replace(' ', '+')}&totalCount=true{more}"
    answer = client.send("GET", path)
    assert answer.status == 200, answer.body
    found = json.loads(answer.body)
    assert answer.headers["Total-Count"] == str(len(found))
    return bool(found)


def test_clients_that_wrote_nothing_are_served_by_the_replica(replica, writer, reader):
    replica.pause()

    code = post_term(writer)

    assert not is_found(reader, code)
    assert is_found(writer, code)


def test_change_queries_are_served_by_the_primary(replica, writer, reader):
    replica.pause()

    code = post_term(writer)

    assert is_found(reader, code, "&minChangeVersion=0")


def test_a_lagging_replica_is_not_used(replica, writer, reader):
    replica.pause()
    code = post_term(writer)

    time.sleep(FORGOTTEN)  # Measured by the clock of the server.

    assert is_found(reader, code)
    assert is_found(writer, code)


def test_single_documents_are_read_from_the_primary(replica, writer, reader):
    replica.pause()
    body = {"namespace": "uri://ed-fi.org/TermDescriptor", "codeValue": "One", "shortDescription": "One"}

    written = writer.send("POST", "/data/ed-fi/termDescriptors", body)
    id_ = written.headers["Location"].rpartition("/")[2]

    assert reader.send("GET", f"/data/ed-fi/termDescriptors/{id_}").status == 200


def test_a_client_sees_its_writes_on_every_connection(replica, server):
    """Requests of one client are served by two processes with four threads each."""
    replica.pause()
    with ExitStack() as open_connections:
        one, other, *more = [open_connections.enter_context(server.client()) for _ in range(6)]

        found = [is_found(other, post_term(one))]
        found += [is_found(reading, post_term(writing)) for writing in more for reading in (one, *more)]

    assert all(found)


def test_a_delayed_replica_serves_only_clients_that_wrote_nothing(replica, writer, reader):
    replica.execute("ALTER SYSTEM SET recovery_min_apply_delay = '1s'")
    replica.execute("SELECT pg_reload_conf()")
    time.sleep(0.3)  # Until the startup process has reloaded its settings, which no query shows.
    late, own = [], []
    for _ in range(5):
        code = post_term(writer)
        late.append(is_found(reader, code))
        own.append(is_found(writer, code))
    replica.execute("ALTER SYSTEM RESET recovery_min_apply_delay")
    replica.execute("SELECT pg_reload_conf()")

    assert all(own)
    assert not any(late)


def test_the_primary_serves_when_the_replica_is_down(replica, writer, reader):
    replica.stop()
    code = post_term(writer)

    answers = [is_found(reader, code) for _ in range(10)]
    replica.start()

    assert all(answers)


def test_a_recovered_replica_is_used_again(replica, writer, reader):
    """After the time for which an unresponsive replica is not used."""
    replica.catch_up()
    replica.pause()
    code = post_term(writer)

    wait_until(lambda: not is_found(reader, code), seconds=SECONDS)


@pytest.mark.long
def test_sql_views_arrive_with_the_log(server, replica) -> None:
    server.manage("create_sql_views", "--schema", "util")

    replica.catch_up()
    version = replica.execute("SELECT util.getedfistandardversion()")
    server.manage("drop_sql_views")

    assert version == "5.2"


@pytest.mark.long
def test_rules_read_the_replica_when_it_has_caught_up(server, writer, replica, tmp_path) -> None:
    (tmp_path / "rule.sql").write_text(
        """/*
identifier = "T-1"
source = "tests"
version = "1"
short = "The rule runs on the replica"
severity = "minor"
category = "Terms"
resource = "ed-fi/termDescriptors"
*/
SELECT id AS document_id, 1 AS education_organization_id, body ->> 'codeValue' AS message
  FROM documents('ed-fi/termDescriptors') WHERE pg_is_in_recovery()
"""
    )
    replica.pause()
    term = post_term(writer)
    command = ["run_validation", "--replica", "--rule", "T-1"]
    rules = {"MEADOWLARK_RULES": str(tmp_path), "MEADOWLARK_BUNDLED_RULES": "false"}

    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(server.manage, *command, **rules)
        with pytest.raises(TimeoutError):
            run.result(1)
        replica.catch_up()
        printed = run.result(60)

    assert b"tests/T-1  published" in printed
    with psycopg.connect(server.database_url) as connection:
        found = connection.execute("SELECT message FROM validation_result WHERE message = %s", [term]).fetchall()
    assert found == [(term,)]


@pytest.mark.long
def test_a_promoted_replica_is_not_used(replica, writer, reader):
    replica.execute("SELECT pg_promote()")

    code = post_term(writer)

    assert is_found(reader, code)
    with psycopg.connect(replica.url) as connection:
        assert connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
