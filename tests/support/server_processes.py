"""Servers to be measured: Meadowlark as `make run` starts it, in its own home, and the constant view."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from meadowlark.run import embedded_postgres
from tests.support.ports import ADDRESS, free_port, is_answering

_TOP = Path(__file__).parents[2]
_START_SECONDS = 180


@dataclass(frozen=True)
class Server:
    """A running Meadowlark: its port, a token, its database, and the process of `meadowlark.run`."""

    port: int
    token: str
    database_url: str
    process_id: int

    @property
    def gunicorn(self) -> psutil.Process:
        return self._child(lambda process: "gunicorn" in process.cmdline())

    @property
    def postgres(self) -> psutil.Process:
        return self._child(lambda process: process.name() == "postgres")

    def _child(self, predicate: Callable[[psutil.Process], bool]) -> psutil.Process:
        [process] = filter(predicate, psutil.Process(self.process_id).children())
        return process


@contextlib.contextmanager
def meadowlark(home: Path, top: Path = _TOP, python: str = sys.executable, **variables: str) -> Iterator[Server]:
    """Runs `python -m meadowlark.run` of a source tree, with these environment variables and PostgreSQL's usual
    durability, until the block ends."""
    port = free_port()
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    defaults = {"MEADOWLARK_HOME": str(home), "MEADOWLARK_PORT": str(port), "MEADOWLARK_TOKEN_SECONDS": "86400"}
    log = home.with_suffix(".log")
    with _running([python, "-m", "meadowlark.run"], inherited | defaults | variables, log, top) as process:
        _wait(process, log, lambda: "A first request" in log.read_text())
        yield Server(port, _token(port, log.read_text()), embedded_postgres.url(home), process.pid)


def command(database_url: str, home: Path, *arguments: str) -> str:
    """What a command of `manage.py` says, run against a server's database."""
    environment = os.environ | {"DATABASE_URL": database_url, "MEADOWLARK_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=_TOP, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


@contextlib.contextmanager
def constant_view(
    home: Path,
    within: Sequence[str] = (),
    application: str = "tests.support.constant_application:application",
    **variables: str,
) -> Iterator[tuple[int, psutil.Process]]:
    """Runs gunicorn, with these environment variables, on the constant view or another application; yields port and
    process. `within` is a command that executes its arguments, such as `prlimit`."""
    port = free_port()
    options = ["--config", "python:meadowlark.serving.gunicorn_conf", "--bind", f"{ADDRESS}:{port}"]
    command = [*within, sys.executable, "-m", "gunicorn", *options, application]
    log = home.with_suffix(".constant.log")
    with _running(command, os.environ | variables, log) as process:
        _wait(process, log, lambda: is_answering(port))
        yield port, psutil.Process(process.pid)


@contextlib.contextmanager
def _running(
    command: list[str], environment: dict[str, str], log: Path, top: Path = _TOP
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=top, env=environment, stdout=output, stderr=output)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def _wait(process: subprocess.Popen[bytes], log: Path, is_up: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not is_up():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"A server did not start: {log.read_text()}")
        time.sleep(0.05)


def manage(environment: Mapping[str, str], *arguments: str, given: str = "") -> str:
    """The standard output of a command of `manage.py`, with these environment variables and this standard input."""
    command = [sys.executable, "manage.py", *arguments]
    variables = os.environ | environment
    return subprocess.run(
        command, cwd=_TOP, env=variables, input=given, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def token_of_new_client(server: Server, environment: Mapping[str, str], *options: str) -> str:
    """The token of a client that `create_api_client` makes with these options."""
    made = json.loads(manage(environment, "create_api_client", *options, "--format", "json"))
    return new_token(server.port, made["key"], made["secret"])


def _token(port: int, output: str) -> str:
    [key] = re.findall(r"^  key +(\S+)$", output, re.MULTILINE)
    [secret] = re.findall(r"^  secret +(\S+)$", output, re.MULTILINE)
    return new_token(port, key, secret)


def new_token(port: int, key: str, secret: str) -> str:
    form = {"grant_type": "client_credentials"}
    answer = httpx.post(f"http://{ADDRESS}:{port}/oauth/token", auth=(key, secret), data=form)
    return str(answer.json()["access_token"])
