"""A worker of gunicorn that serves through Granian's HTTP engine.

gunicorn supervises: it opens the sockets, handles signals, starts, replaces and stops the workers. The engine accepts
connections and reads HTTP in Rust, without Python's global lock; threads run the application.

The engine closes silent connections by time alone; at its limit, new ones would wait until then. So those that have
been silent for longest are closed before there are as many as it accepts. Only Linux reports how long a connection has
been silent.
"""

import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from threading import Event
from types import SimpleNamespace
from wsgiref.types import WSGIEnvironment

from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.base import Worker

from edfi_api.common.conf import api_settings
from edfi_api.common.memory import process_memory
from meadowlark.serving import environ
from meadowlark.serving.delayed_answers import DelayedAnswers
from meadowlark.serving.engine import Engine
from meadowlark.serving.gateway import Gateway
from meadowlark.serving.large_answers import Senders
from meadowlark.serving.process import deliver_stop_signals, give_small_blocks_back
from meadowlark.serving.request_bodies import RequestBodies
from meadowlark.serving.request_groups import RequestGroups
from meadowlark.serving.rsgi import Fields, HTTPProtocol, Scope
from meadowlark.serving.turns import Caller, Turns

# The milliseconds since data was last sent and received, in Linux's struct tcp_info.
_TCP_INFO = struct.Struct("44xI4xI")
# Seconds between two checks of deadlines and of the number of connections; the second one while connections are closed
# or answers are delayed.
_INTERVAL = 1.0
_SHORT_INTERVAL = 0.1
# The part of the connections that the engine accepts from which on silent ones are closed.
_FULL = 0.9
# Requests of one client that wait for their turn. Those whose client has closed its connection are among them: the
# engine does not say so.
_MOST_WAITING = 128
# For which their refusals wait, so that a client that repeats a request as soon as it is refused takes little time.
_REFUSED_AFTER = 1.0
# For which a thread that computes may keep others from it: by default of Python 5 milliseconds, in which whole requests
# are answered. Those of one client would wait that long, several times each, for those of another.
_SWITCH_SECONDS = 0.001
# Seconds in which a client that has connected, or that has just had an answer, is expected to send a request.
_SILENT = 1.0


def close_longest_silent(ports: Set[int], most: int, busy: Set[str]) -> int:
    """Closes connections beyond `most` to these local ports, as far as their clients (ADDRESS:PORT) are not busy;
    returns how many. A client that has sent only a part of its request is not busy."""
    files = _open_files()
    if len(files) <= most:
        return 0
    connections = list(_connections(files, ports))
    idle = [each for each in connections if each[1] not in busy]
    surplus = sorted(idle, reverse=True)[: max(0, len(connections) - most)]
    for _, client, number in surplus:
        # The engine may have closed this one, and given the number to another.
        with suppress(OSError), _duplicate(number) as connection:
            if _client(connection) == client:
                connection.shutdown(socket.SHUT_RDWR)
    return len(surplus)


def have_been_silent(ports: Set[int], seconds: float) -> bool:
    """Return whether all connections to these local ports have been open for so long and silent, as far as it can be
    seen."""
    files = _open_files()
    return bool(files) and all(silence >= 1000 * seconds for silence, _, _ in _connections(files, ports))


def _connections(files: Iterable[int], ports: Set[int]) -> Iterator[tuple[int, str, int]]:
    """The milliseconds for which each has been silent, its client, and its file."""
    for number in files:
        with suppress(OSError), _duplicate(number) as connection:
            if _local_port(connection) in ports:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
                yield min(_TCP_INFO.unpack(info)), _client(connection), number


def _open_files() -> list[int]:
    try:
        with os.scandir("/proc/self/fd") as entries:
            return [int(entry.name) for entry in entries]
    except FileNotFoundError:
        return []


def _duplicate(number: int) -> socket.socket:
    """Raises OSError for files that are no sockets; so does asking a listener for its client."""
    duplicate = os.dup(number)
    try:
        return socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise


def _local_port(connection: socket.socket) -> int | None:
    return connection.getsockname()[1] if connection.family in (socket.AF_INET, socket.AF_INET6) else None


def _client(connection: socket.socket) -> str:
    host, port = connection.getpeername()[:2]
    return f"[{host}]:{port}" if connection.family == socket.AF_INET6 else f"{host}:{port}"


def _by_address(variables: WSGIEnvironment) -> Caller:
    """The caller for an application that knows no API clients."""
    return Caller(variables["REMOTE_ADDR"], is_known=False)


class EngineWorker(Worker):  # type: ignore[misc]  # gunicorn has no types.
    """Uses of gunicorn's settings threads, worker_connections, keepalive, backlog, graceful_timeout, max_requests and
    those of the access log, besides the arbiter's."""

    # For the body of a request to arrive, and for a client to read some of a large answer.
    request_seconds: int

    @classmethod
    def check_config(cls, cfg: Config, _: Logger) -> None:
        if cfg.is_ssl:
            raise RuntimeError("TLS is ended by a proxy, or by gunicorn's own worker: MEADOWLARK_WORKER=gthread.")

    def init_signals(self) -> None:
        super().init_signals()
        deliver_stop_signals()

    def run(self) -> None:
        self._bodies = RequestBodies(api_settings.MAX_BODY_BYTES, self.request_seconds)
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._senders = Senders(ThreadPoolExecutor(self.cfg.threads, thread_name_prefix="large-answer"))
        most_waiting = min(_MOST_WAITING, self.cfg.worker_connections // 2)
        self._turns = Turns(self.cfg.threads, most_waiting)
        # The access log is written from the variables of WSGI.
        self._prepared = None if self.log.access_log_enabled else getattr(self.wsgi, "prepared_requests", None)
        self._groups = self._prepared and RequestGroups(self._turns, self._prepared, self.cfg.threads, most_waiting)
        self._delayed = DelayedAnswers(_REFUSED_AFTER, self.cfg.worker_connections)
        self._busy: dict[object, str] = {}
        self._ports = {each.getsockname()[1] for each in self.sockets if each.family != socket.AF_UNIX}
        self._stopping = Event()
        engines = [self._make_engine(listener) for listener in self.sockets]
        for engine in engines:
            engine.start()
        while self.alive and self.ppid == os.getppid():
            self._look_after_connections()
        self._stop(engines)

    def _stop(self, engines: list[Engine]) -> None:
        """Engines that stop close connections on which no request has arrived yet. So further connections are left to
        the next worker first, or refused if the server ends, and those that are open have some time to send a request.
        """
        end = time.monotonic() + self.cfg.graceful_timeout
        self._stopping.set()
        for engine in engines:
            engine.stop_accepting()
        is_visible = all(each.family != socket.AF_UNIX for each in self.sockets)
        # The queues live on where the arbiter has them open.
        for listener in self.sockets:
            listener.close()
        self._wait(lambda: is_visible and have_been_silent(self._ports, _SILENT), time.monotonic() + _SILENT)
        for engine in engines:
            engine.stop()
        self._wait(lambda: all(engine.has_stopped() for engine in engines), end)

    def _wait(self, is_done: Callable[[], bool], end: float) -> None:
        self._look_after_connections(_SHORT_INTERVAL)
        while not is_done() and time.monotonic() < end:
            self._look_after_connections(_SHORT_INTERVAL)

    def _make_engine(self, listener: socket.socket) -> Engine:
        if hasattr(socket, "TCP_USER_TIMEOUT") and listener.family != socket.AF_UNIX:
            # Connections inherit it: the system closes those whose client takes nothing of what is sent.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * self.request_seconds)
        address = listener.getsockname()
        name, port = (address, "") if listener.family == socket.AF_UNIX else (address[0], str(address[1]))
        gateway = Gateway(
            self.wsgi,
            environ.FIXED | {"SERVER_NAME": name, "SERVER_PORT": port},
            self._bodies,
            self._senders,
            self._busy,
            self.request_seconds,
            self._turns,
            self._delayed,
            getattr(self.wsgi, "caller_of", _by_address),
            self._stopping,
            self._log_access if self.log.access_log_enabled else None,
            self._prepared,
            self._groups,
        )

        def handle(scope: Scope, protocol: HTTPProtocol) -> None:
            self.nr += 1
            if self.nr == self.max_requests:
                self.log.info("Autorestarting worker after current request.")
                self.alive = False
                os.write(self.PIPE[1], b"1")
            gateway.handle(scope, protocol)

        return Engine(
            listener,
            handle,
            # Of which one receives requests while all others work.
            threads=self.cfg.threads + 1,
            connections=self.cfg.worker_connections,
            head_seconds=self.cfg.keepalive,
            backlog=self.cfg.backlog,
        )

    def _look_after_connections(self, interval: float = _INTERVAL) -> None:
        """Look after connections until a signal arrives, or for so many seconds."""
        self.notify()
        self._bodies.expire()
        if process_memory().was_reserved():
            give_small_blocks_back()
        if self._delayed.send_due():
            interval = _SHORT_INTERVAL
        busy = frozenset(self._busy.copy().values())
        if close_longest_silent(self._ports, int(_FULL * self.cfg.worker_connections), busy):
            interval = _SHORT_INTERVAL
        if select.select([self.PIPE[0]], [], [], interval)[0]:
            os.read(self.PIPE[0], 4096)

    def _log_access(
        self, variables: WSGIEnvironment, status: int, headers: Fields, length: int, seconds: float
    ) -> None:
        query = variables["QUERY_STRING"]
        variables["RAW_URI"] = variables["PATH_INFO"] + (f"?{query}" if query else "")
        answer = SimpleNamespace(status=str(status), headers=headers, sent=length)
        request = {name[5:].replace("_", "-"): value for name, value in variables.items() if name.startswith("HTTP_")}
        self.log.access(answer, request, variables, timedelta(seconds=seconds))
