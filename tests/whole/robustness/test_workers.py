"""gunicorn replaces, adds and removes workers without losing or delaying requests."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import psutil
import pytest

from meadowlark.serving import listeners
from tests.support.ports import ADDRESS, free_port, is_answering
from tests.support.server_processes import constant_view
from tests.whole.robustness.raw_http import whole_answer
from tests.whole.robustness.waiting import wait_until

TOP = Path(__file__).parents[3]
GET = b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF_OF_A_POST, OTHER_HALF = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n01234", b"56789"
CLIENTS = 4
# Requests that arrive slowly: so many that each of two workers has some.
SLOW = 32
# For a worker that is removed to get its signal, and for the clients to connect many times after that.
SECONDS_TO_LEAVE = 3
PAUSE = 0.005
# A generous timeout in seconds for operations that usually take one or two.
TIMEOUT = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home of the one server of the tests of this module that need no other settings."""
    return tmp_path_factory.mktemp("server") / "home"


@pytest.fixture(scope="module")
def running(home: Path) -> Iterator[tuple[int, psutil.Process]]:
    with constant_view(home, GUNICORN_CMD_ARGS="--access-logfile=-") as server:
        yield server


@pytest.fixture
def server(running: tuple[int, psutil.Process]) -> tuple[int, psutil.Process]:
    """The port and the arbiter, after both workers have started."""
    _, arbiter = running
    wait_until(lambda: len(workers(arbiter)) == 2, TIMEOUT)
    return running


def send(port: int) -> int:
    """The status of the answer on a new connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
        connection.sendall(GET)
        return whole_answer(connection).status


@contextmanager
def continuous_requests(port: int) -> Iterator[list[int]]:
    """Clients that open a connection for each request within the context; yields the statuses."""
    end, statuses = Event(), []
    with ThreadPoolExecutor(CLIENTS) as pool:
        # With pauses, which leave the processors to the workers that start.
        clients = [
            pool.submit(lambda: [statuses.append(send(port)) for _ in iter(partial(end.wait, PAUSE), True)])
            for _ in range(CLIENTS)
        ]
        try:
            yield statuses
            more = len(statuses) + 100
            wait_until(lambda: len(statuses) > more, TIMEOUT)
        finally:
            end.set()
        for client in clients:
            client.result(TIMEOUT)


def workers(gunicorn: psutil.Process) -> set[int]:
    return {worker.pid for worker in gunicorn.children()}


@pytest.mark.long
def test_a_worker_that_is_stopped_while_it_starts_ends(tmp_path):
    """Before it has handlers of its own: those of the arbiter, which it inherits, only note a signal."""
    application = "tests.support.slowly_forked_application:application"
    with constant_view(tmp_path / "home", application=application, MEADOWLARK_WORKERS="1") as (_, arbiter):
        wait_until(arbiter.children, TIMEOUT)  # The socket is open before the worker is forked.
        [worker] = arbiter.children()
        worker.kill()
        wait_until(lambda: workers(arbiter) - {worker.pid}, TIMEOUT)

        arbiter.terminate()

        arbiter.wait(10)


def test_a_reload_loses_no_request(server):
    port, gunicorn = server
    with continuous_requests(port) as statuses:
        for _ in range(2):
            before = workers(gunicorn)
            gunicorn.send_signal(signal.SIGHUP)
            wait_until(lambda before=before: len(workers(gunicorn) - before) == 2 == len(workers(gunicorn)), TIMEOUT)

    assert set(statuses) == {200}


def change_count(gunicorn: psutil.Process, number: signal.Signals, count: int) -> None:
    """Send a signal that leads to so many workers, and wait for them."""
    gunicorn.send_signal(number)
    wait_until(lambda: len(workers(gunicorn)) == count, TIMEOUT)


def test_removing_a_worker_stops_only_one_and_loses_no_request(server):
    port, gunicorn = server
    change_count(gunicorn, signal.SIGTTIN, 3)
    with continuous_requests(port) as statuses:
        for count in (2, 1):
            before = workers(gunicorn)
            change_count(gunicorn, signal.SIGTTOU, count)
            assert workers(gunicorn) < before
    change_count(gunicorn, signal.SIGTTIN, 2)

    assert set(statuses) == {200}


@pytest.mark.long
def test_a_reload_back_to_the_configured_number_loses_no_request(server):
    port, gunicorn = server
    change_count(gunicorn, signal.SIGTTIN, 3)
    before = workers(gunicorn)
    with continuous_requests(port) as statuses:
        gunicorn.send_signal(signal.SIGHUP)
        wait_until(lambda: before.isdisjoint(workers(gunicorn)) and len(workers(gunicorn)) == 2, TIMEOUT)

    assert set(statuses) == {200}


@pytest.mark.long
def test_a_removed_worker_with_a_request_under_way_gets_no_connections(server):
    port, gunicorn = server
    before = workers(gunicorn)
    with ExitStack() as opened:
        slow = [opened.enter_context(socket.create_connection(("127.0.0.1", port), TIMEOUT)) for _ in range(SLOW)]
        for client in slow:
            client.sendall(HALF_OF_A_POST)
        with continuous_requests(port) as statuses:
            gunicorn.send_signal(signal.SIGTTOU)
            time.sleep(SECONDS_TO_LEAVE)
            assert workers(gunicorn) == before
            for client in slow:
                client.sendall(OTHER_HALF)
            assert {whole_answer(client).status for client in slow} == {200}
            wait_until(lambda: len(workers(gunicorn)) == 1, TIMEOUT)
            assert workers(gunicorn) < before
    change_count(gunicorn, signal.SIGTTIN, 2)

    assert set(statuses) == {200}


@pytest.mark.long
def test_workers_start_again_after_all_were_stopped(tmp_path):
    """By SIGWINCH, which gunicorn obeys as a daemon: the way back from a new master process to the old one."""
    port, pid_file = free_port(), tmp_path / "pid"
    with gunicorn(tmp_path / "log", "--bind", f"127.0.0.1:{port}", "--daemon", "--pid", str(pid_file)) as starter:
        assert starter.wait(TIMEOUT) == 0
    wait_until(lambda: pid_file.exists() and is_answering(port), TIMEOUT)
    arbiter = psutil.Process(int(pid_file.read_text()))
    try:
        wait_until(lambda: len(workers(arbiter)) == 2, TIMEOUT)
        change_count(arbiter, signal.SIGWINCH, 0)
        change_count(arbiter, signal.SIGHUP, 2)
        assert send(port) == 200
    finally:
        arbiter.terminate()
        arbiter.wait(TIMEOUT)


def test_the_sockets_of_every_worker_stay_non_blocking_when_another_takes_them_over():
    """The engine of a worker that is being replaced would wait in accept, and all of its connections with it."""
    with ExitStack() as opened:
        first = opened.enter_context(socket.create_server((ADDRESS, 0)))
        first.setblocking(False)
        workers = [SimpleNamespace(), SimpleNamespace()]
        arbiter = SimpleNamespace(LISTENERS=[first], WORKERS={}, num_workers=2, cfg=SimpleNamespace(backlog=16))
        for number, worker in enumerate(workers):
            listeners.assign(arbiter, worker)
            arbiter.WORKERS[number] = worker
        [second] = [opened.enter_context(each) for each in workers[1].sockets]
        opened.enter_context(second.dup())

        assert second is not first
        assert not os.get_blocking(first.fileno())
        assert not os.get_blocking(second.fileno())


@pytest.mark.long
def test_connections_are_distributed_after_adding_and_removing_workers(server):
    """Connections of a socket without a worker would wait forever."""
    port, gunicorn = server
    for number, count in [(signal.SIGTTIN, 3), (signal.SIGTTIN, 4), (signal.SIGTTOU, 3), (signal.SIGTTOU, 2)]:
        change_count(gunicorn, number, count)
        wait_until(lambda count=count: listening(gunicorn, port) == count, TIMEOUT)
        with ThreadPoolExecutor(16) as pool:
            assert set(pool.map(send, [port] * 64)) == {200}


@pytest.mark.long
def test_a_worker_that_is_added_after_one_was_removed_gets_connections(server):
    port, gunicorn = server
    change_count(gunicorn, signal.SIGTTOU, 1)
    change_count(gunicorn, signal.SIGTTIN, 2)
    with ExitStack() as opened:
        for _ in range(32):
            opened.enter_context(socket.create_connection(("127.0.0.1", port), TIMEOUT))
        for worker in gunicorn.children():
            wait_until(lambda worker=worker: has_connection(worker, port), TIMEOUT)


def has_connection(worker: psutil.Process, port: int) -> bool:
    return any(each.raddr and each.laddr.port == port for each in worker.net_connections("tcp"))


def listening(gunicorn: psutil.Process, port: int) -> int:
    """The number of sockets that listen on the port."""
    local = f":{port:04X} "
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    return sum(row[3] == "0A" and f"{row[1]} ".endswith(local) for row in rows)


def test_the_connections_of_a_killed_worker_go_to_its_successor(server):
    """Those in the accept queue: the worker is stopped first, so that it accepts none."""
    port, gunicorn = server
    victim, _ = gunicorn.children()
    victim.suspend()
    wait_until(lambda: set(states_of_threads(victim)) == {"T"}, TIMEOUT)
    with ExitStack() as opened:
        clients = [opened.enter_context(socket.create_connection(("127.0.0.1", port), TIMEOUT)) for _ in range(32)]
        for client in clients:
            client.sendall(GET)
        victim.kill()
        assert {whole_answer(client).status for client in clients} == {200}
        wait_until(lambda: len(workers(gunicorn)) == 2, TIMEOUT)
    assert victim.pid not in workers(gunicorn)


def states_of_threads(process: psutil.Process) -> list[str]:
    """The states in /proc/PID/stat, after the name in parentheses: T for stopped."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/stat")
    return [task.read_text().rpartition(")")[2].split()[0] for task in tasks]


def test_a_worker_is_replaced_after_max_requests(tmp_path):
    with constant_view(tmp_path / "home", GUNICORN_CMD_ARGS="--max-requests=50") as (port, gunicorn):
        first = workers(gunicorn)
        with continuous_requests(port) as statuses:
            wait_until(lambda: first.isdisjoint(workers(gunicorn)), TIMEOUT)

    assert set(statuses) == {200}


def test_gunicorn_writes_its_access_log(server, home):
    port, _ = server
    with socket.create_connection(("127.0.0.1", port), TIMEOUT) as connection:
        connection.sendall(GET.replace(b"/x", b"/x?y=1").replace(b"Host:", b"User-Agent: us\r\nHost:"))
        assert whole_answer(connection).status == 200
    log = home.with_suffix(".constant.log")
    wait_until(lambda: '"GET /x?y=1 HTTP/1.1" 200 711 "-" "us"' in log.read_text(), TIMEOUT, log.read_text()[-1000:])


@contextmanager
def gunicorn(log: Path, *options: str, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """Runs gunicorn with these options on the constant view."""
    command = [sys.executable, "-m", "gunicorn", "--config", "python:meadowlark.serving.gunicorn_conf", *options]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "tests.support.constant_application:application"],
            cwd=TOP,
            env=os.environ | variables,
            stdout=output,
            stderr=output,
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(TIMEOUT)


@pytest.mark.long
def test_several_addresses_and_unix_sockets_are_served(tmp_path):
    path, port = tmp_path / "socket", free_port()
    binds = ["--bind", f"unix:{path}", "--bind", f"127.0.0.1:{port}"]
    with gunicorn(tmp_path / "log", *binds) as process:
        wait_until(path.exists, TIMEOUT)
        arbiter = psutil.Process(process.pid)
        for count in (2, 1):
            wait_until(lambda count=count: len(workers(arbiter)) == count, TIMEOUT)
            for _ in range(8):
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.settimeout(TIMEOUT)
                    connection.connect(str(path))
                    connection.sendall(GET)
                    assert whole_answer(connection).status == 200
                assert send(port) == 200
            process.send_signal(signal.SIGTTOU)


@pytest.mark.long
def test_gunicorns_own_worker_can_be_selected(tmp_path):
    with constant_view(tmp_path / "home", MEADOWLARK_WORKER="gthread") as (port, gunicorn):
        assert send(port) == 200
        loaded = [each.path for worker in gunicorn.children() for each in worker.memory_maps()]

    assert loaded
    assert not any("_granian" in path for path in loaded)


@pytest.mark.parametrize(
    ("options", "variables", "message"),
    [
        (
            [],
            {"MEADOWLARK_WORKER": "gevent"},
            "MEADOWLARK_WORKER is 'gevent'; it must be empty or one of: granian, gthread.",
        ),
        (["--certfile", __file__], {}, "TLS is ended by a proxy, or by gunicorn's own worker"),
    ],
)
def test_unsupported_options_are_refused_at_the_start(tmp_path, options, variables, message):
    log = tmp_path / "log"
    with gunicorn(log, "--bind", f"127.0.0.1:{free_port()}", *options, **variables) as process:
        assert process.wait(TIMEOUT) != 0

    assert message in log.read_text()
