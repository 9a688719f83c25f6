"""Workers are replaced, and the server is stopped, without a request being lost."""

import json
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from threading import Event

import psycopg
import pytest

from tests.server_processes import ADDRESS, Server, meadowlark

WRITERS = 4
_numbers = count(1)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with meadowlark(tmp_path / "home") as running:
        yield running


def test_a_reload_and_a_stop_lose_no_request(server: Server) -> None:
    gunicorn = server.gunicorn
    first_workers = {worker.pid for worker in gunicorn.children()}
    stop = Event()

    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(_write_until, stop, server) for _ in range(WRITERS)]
        for _ in range(2):
            time.sleep(1)
            gunicorn.send_signal(signal.SIGHUP)
        time.sleep(2)
        workers = {worker.pid for worker in gunicorn.children()}
        stop.set()
        acknowledged = {name for writer in writers for name in writer.result()}

    assert first_workers.isdisjoint(workers)
    assert len(acknowledged) > 50
    assert acknowledged == _stored(server)


def test_a_request_in_progress_is_answered_during_shutdown(server: Server) -> None:
    body = json.dumps(_student("under way")).encode()
    connection = HTTPConnection(ADDRESS, server.port, timeout=30)
    connection.putrequest("POST", "/data/ed-fi/students")
    for name, value in _headers(server).items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body[:10])
    time.sleep(0.5)

    server.gunicorn.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    connection.send(body[10:])

    assert connection.getresponse().status == 201


def _write_until(stop: Event, server: Server) -> list[str]:
    """The students that were acknowledged; whatever else happens to a request is an exception here."""
    written = []
    while not stop.is_set():
        name = f"student {next(_numbers)}"
        connection = HTTPConnection(ADDRESS, server.port, timeout=30)
        connection.request("POST", "/data/ed-fi/students", json.dumps(_student(name)), _headers(server))
        assert connection.getresponse().status == 201
        connection.close()
        written.append(name)
    return written


def _student(name: str) -> dict[str, str]:
    return {"studentUniqueId": name, "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}


def _headers(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}


def _stored(server: Server) -> set[str]:
    query = "SELECT body ->> 'studentUniqueId' FROM document WHERE body ? 'studentUniqueId'"
    with psycopg.connect(server.database_url) as connection:
        return {name for (name,) in connection.execute(query)}
