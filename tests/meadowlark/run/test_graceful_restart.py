"""A reload and a stop of the server lose no request."""

import json
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from threading import Event

import psycopg
import pytest

from meadowlark.run.embedded_postgres import EmbeddedPostgres
from tests.support.ports import ADDRESS
from tests.support.server_processes import Server, meadowlark
from tests.whole.robustness.waiting import wait_until

WRITERS = 4
CONNECTING = 8
_numbers = count(1)


@pytest.mark.long
def test_a_reload_and_a_stop_lose_no_request(tmp_path: Path, prepared_home: Callable[[Path], Path]) -> None:
    home, acknowledged = prepared_home(tmp_path / "home"), set[str]()
    with meadowlark(home) as server:
        _reload_while_clients_write(server, acknowledged)
        with ThreadPoolExecutor(CONNECTING + WRITERS) as pool:
            connecting = [pool.submit(_connect_until_refused, server) for _ in range(CONNECTING)]
            writing = [pool.submit(_write_until_refused, server, acknowledged) for _ in range(WRITERS)]
            _stop_while_a_request_arrives(server)
            acknowledged.add("under way")
            lost = [failure for each in [*connecting, *writing] for failure in each.result()]
    with EmbeddedPostgres(home) as postgres:
        stored = _stored(postgres.url)

    assert lost == []
    assert stored == acknowledged
    assert "Exception in worker" not in (tmp_path / "home.log").read_text()


def _reload_while_clients_write(server: Server, acknowledged: set[str]) -> None:
    stop = Event()

    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(_write_until, stop, server, acknowledged) for _ in range(WRITERS)]
        try:
            for _ in range(2):
                _wait_for_more(acknowledged)
                _replace_workers(server)
            _wait_for_more(acknowledged)
        finally:
            stop.set()
        for writer in writers:
            writer.result()

    assert acknowledged == _stored(server.database_url)


def _stop_while_a_request_arrives(server: Server) -> None:
    body = json.dumps(_student("under way")).encode()
    connection = HTTPConnection(ADDRESS, server.port, timeout=30)
    connection.putrequest("POST", "/data/ed-fi/students")
    for name, value in _headers(server).items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body[:10])
    time.sleep(0.5)  # The server has read the request by then; this is not observable from outside.

    server.gunicorn.send_signal(signal.SIGTERM)
    time.sleep(0.5)  # As above: workers keep the port open until they end.
    connection.send(body[10:])

    assert connection.getresponse().status == 201


def _connect_until_refused(server: Server) -> list[Exception]:
    """What became of requests on new connections, each, that were neither answered nor refused a connection: whoever
    is refused can ask another server."""
    lost: list[Exception] = []
    while True:
        connection = HTTPConnection(ADDRESS, server.port, timeout=30)
        try:
            connection.connect()
        except ConnectionRefusedError:
            return lost
        try:
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
        except Exception as error:
            lost.append(error)
        finally:
            connection.close()


def _write_until_refused(server: Server, acknowledged: set[str]) -> list[Exception]:
    """What became of writes on new connections, as above; students that were acknowledged are added to the set."""
    lost: list[Exception] = []
    while True:
        try:
            acknowledged.add(_write(server))
        except ConnectionRefusedError:
            return lost
        except Exception as error:
            lost.append(error)


def _wait_for_more(acknowledged: set[str]) -> None:
    before = len(acknowledged)
    wait_until(lambda: len(acknowledged) >= before + 20, seconds=60)


def _replace_workers(server: Server) -> None:
    """Returns when the new workers serve and the old ones have ended."""
    before = set(server.gunicorn.children())
    server.gunicorn.send_signal(signal.SIGHUP)
    wait_until(lambda: len(after := set(server.gunicorn.children())) == len(before) and not before & after, seconds=60)


def _write_until(stop: Event, server: Server, acknowledged: set[str]) -> None:
    """Adds acknowledged students to the set; any other outcome of a request is an exception."""
    while not stop.is_set():
        acknowledged.add(_write(server))


def _write(server: Server) -> str:
    """Send a new student on a connection of its own; return its name when it was acknowledged."""
    name = f"student {next(_numbers)}"
    with closing(HTTPConnection(ADDRESS, server.port, timeout=30)) as connection:
        connection.request("POST", "/data/ed-fi/students", json.dumps(_student(name)), _headers(server))
        assert connection.getresponse().status == 201
    return name


def _student(name: str) -> dict[str, str]:
    return {"studentUniqueId": name, "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}


def _headers(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}


def _stored(database_url: str) -> set[str]:
    query = "SELECT body ->> 'studentUniqueId' FROM document WHERE body ? 'studentUniqueId'"
    with psycopg.connect(database_url) as connection:
        return {name for (name,) in connection.execute(query)}
