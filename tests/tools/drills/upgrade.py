"""A drill: servers of 1.0.0 and of this version on one database, replaced one after the other under load, and back.

A proxy asks the servers in turn, each request on a connection of its own, and asks the next one if a connection is
refused, as nginx does. Clients write and read through it without a pause while `migrate` runs, while each server is
replaced by one of this version, and while each is replaced by one of 1.0.0 again. No request may fail, no write may be
lost, and `verify_integrity` may find nothing.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from meadowlark.run.embedded_postgres import EmbeddedPostgres
from tests.support.ports import ADDRESS, free_port, is_answering
from tests.support.server_processes import new_token
from tests.tools.drills.load import Load

RELEASE = "452df9a9db541040bcad08200856faf0798b5683"
TOP = Path(__file__).parents[3]
_START_SECONDS = 180
# Of the load between two steps.
_SECONDS = 5.0
_PASSED_ON = ("content-type", "content-length", "location", "etag", "retry-after")


class Servers:
    """The servers behind the proxy."""

    def __init__(self, home: Path, database_url: str) -> None:
        variables = {"MEADOWLARK_HOME": str(home), "DATABASE_URL": database_url, "MEADOWLARK_WORKERS": "1"}
        self.environment = os.environ | variables
        self.ports: list[int] = []
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._home = home

    def start(self, tree: Path) -> int:
        """Start a server of a source tree and return its port when it is ready."""
        port = free_port()
        settings = ["--config", "python:meadowlark.serving.gunicorn_conf", "--bind", f"{ADDRESS}:{port}"]
        command = [sys.executable, "-m", "gunicorn", *settings, "meadowlark.wsgi:application"]
        with (self._home / f"{port}.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=tree, env=self.environment, stdout=log, stderr=log)
        self._processes[port] = process
        _wait(lambda: is_answering(port) and _is_ready(port))
        self.ports = [*self.ports, port]
        return port

    def stop(self, port: int) -> None:
        """As an operator does: take it out of the proxy, then SIGTERM."""
        self.ports = [each for each in self.ports if each != port]
        process = self._processes.pop(port)
        process.terminate()
        process.wait(60)

    def replace(self, port: int, tree: Path) -> int:
        """Start another one first."""
        new = self.start(tree)
        self.stop(port)
        return new

    def stop_all(self) -> None:
        """At the end, or after an error."""
        for port in list(self._processes):
            self.stop(port)


@contextmanager
def proxy(servers: Servers) -> Iterator[int]:
    """Its port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        turn = 0

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            answer, content = self._answered(headers | {"Connection": "close"}, body)
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() in _PASSED_ON:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def _answered(self, headers: dict[str, str], body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
            Handler.turn += 1
            ports = servers.ports
            for place in range(len(ports)):
                port = ports[(Handler.turn + place) % len(ports)]
                with closing(http.client.HTTPConnection(ADDRESS, port, timeout=60)) as connection:
                    try:
                        connection.connect()
                    except ConnectionRefusedError:
                        continue
                    connection.request(self.command, self.path, body or None, headers)
                    answer = connection.getresponse()
                    return answer, answer.read()
            raise ConnectionError("no server accepts connections")

        do_GET = do_POST = do_PUT = do_DELETE = pass_on

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer((ADDRESS, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def run(clients: int) -> int:
    """The drill; returns the status of the command."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-upgrade-") as folder, ExitStack() as running:
        top = Path(folder)
        top.chmod(0o755)
        old = release(top)
        home = top / "home"
        home.mkdir()
        postgres = running.enter_context(EmbeddedPostgres(home))
        servers = Servers(home, postgres.url)
        running.callback(servers.stop_all)
        manage(old, servers, "migrate")
        options = ("--claim-set", "EdFiSandbox", "--format", "json")
        client = json.loads(manage(old, servers, "create_api_client", "drill", *options))
        ports = [servers.start(old), servers.start(old)]
        load = Load(
            running.enter_context(proxy(servers)), new_token(ports[0], client["key"], client["secret"]), clients
        )
        found = _under_load(load, servers, ports, old)
        found += load.observed.wrong + load.differences(postgres.url)
        integrity = manage(TOP, servers, "verify_integrity")
    print(f"answers: {dict(load.observed.statuses)}, slowest {load.observed.slowest:.1f} s")
    print(integrity.strip())
    if load.observed.stale_reads:
        found.append(f"{load.observed.stale_reads} reads were older than an acknowledged write")
    found += [f"{count} answers {status}" for status, count in load.observed.statuses.items() if status >= 500]
    for each in found[:20]:
        print(f"wrong: {each}")
    print("failed" if found else "passed: no request failed, no write is lost")
    return 1 if found else 0


def _under_load(load: Load, servers: Servers, ports: list[int], old: Path) -> list[str]:
    """What went wrong with the steps themselves."""
    load.start()
    try:
        time.sleep(_SECONDS)
        _step("migrate", lambda: manage(TOP, servers, "migrate"))
        for tree, name in ((TOP, "this version"), (old, "1.0.0")):
            for place, port in enumerate(ports):
                ports[place] = _step(f"server {place + 1}: {name}", partial(servers.replace, port, tree))
        stuck = (
            [] if load.all_have_written_since(time.monotonic() - 10) else ["a client has not written for 10 seconds"]
        )
    finally:
        load.stop()
    return stuck


def _step(name: str, do: Callable[[], Any]) -> Any:
    begin = time.monotonic()
    done = do()
    print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    time.sleep(_SECONDS)
    return done


def release(folder: Path) -> Path:
    """Return the source tree of 1.0.0, made in a folder."""
    tree = folder / "1.0.0"
    tree.mkdir()
    archive = subprocess.run(["git", "archive", RELEASE], cwd=TOP, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)
    return tree


def manage(tree: Path, servers: Servers, *arguments: str) -> str:
    """Return what a command of a source tree prints."""
    return run_in(tree, servers, "manage.py", *arguments)


def run_in(tree: Path, servers: Servers, *arguments: str) -> str:
    """Return what Python prints, in a source tree, with the settings of the servers."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=tree, env=servers.environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def _is_ready(port: int) -> bool:
    with closing(http.client.HTTPConnection(ADDRESS, port, timeout=60)) as connection:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == 200


def _wait(is_done: Callable[[], bool]) -> None:
    end = time.monotonic() + _START_SECONDS
    while not is_done():
        if time.monotonic() > end:
            raise TimeoutError("a server does not start")
        time.sleep(0.1)
