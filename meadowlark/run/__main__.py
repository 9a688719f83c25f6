"""`make run`: starts PostgreSQL, prepares the database, starts the web server, and prints a first request to try.

    python -m meadowlark.run [--demo [STUDENTS] [--today DAY] | --sandbox NAME OPTIONS]

`make demo` does so with a made-up district and an administrator, in a home of its own, and `make sandbox` with a
sandbox for a vendor.

Supervises both servers and the schedule, and stops them in reverse order on SIGTERM or Ctrl-C. Each runs in a session
of its own, so that signals of the terminal reach only this process.
"""

# ruff: noqa: S603 - the commands run here are our own.

import argparse
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import NoReturn

import psycopg

from edfi_api.common.settings_table import SETTINGS
from meadowlark.run.demo_clients import DemoVendor, port_for_reader, send
from meadowlark.run.embedded_postgres import EmbeddedPostgres, default_home, url
from meadowlark.run.postgres_programs import EmbeddedPostgresError, end_session, ending_with_us
from meadowlark.run.secret_key import keep_client, make_key
from meadowlark.run.welcome import Administrator, DemoClient, DemoCredentials, credentials_text, for_commands, welcome

DEMO_CLAIM_SET = "EdFiSandbox"
ADDRESS = "127.0.0.1"
DEMO_CLIENT = "demo"
DEMO_ADMINISTRATOR = "admin"
DEMO_HOME = ".demo"
DEMO_STUDENTS = "2000"
# Each sandbox has a home of its own in this folder.
SANDBOXES = ".sandboxes"
# Relative, since commands are run in this folder, too.
DEMO_RULES = "meadowlark/demo_rules"
# The commits of a database on the same machine are so fast that requests may wait for those of others.
_WITH_OWN_DATABASE = {"MEADOWLARK_GROUP_MILLISECONDS": "20"}
_RESTART_SECONDS = 60
_SECONDS_BETWEEN_LOOKS = 30
_NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR})
_STOP_SECONDS = 30  # More than gunicorn's graceful_timeout.


class CannotServe(Exception):
    """Meadowlark cannot start or cannot go on; the message is one paragraph for the operator."""


class Stopped(BaseException):
    """A signal requested the shutdown. Not an `Exception`, so that no handler of errors catches it."""


def main() -> int:
    """Serve until a signal (exit status 0) or a failure (1, with the reason on standard error)."""
    parser = argparse.ArgumentParser(prog="python -m meadowlark.run", description="Serve Meadowlark on this machine.")
    parser.add_argument(
        "--demo", nargs="?", const=DEMO_STUDENTS, metavar="STUDENTS", help="with a district of so many students"
    )
    parser.add_argument("--today", default="", metavar="DAY", help="the day that it is in the district; default: today")
    parser.add_argument(
        "--sandbox", nargs=argparse.REMAINDER, metavar="NAME", help="with a sandbox; then the options of create_sandbox"
    )
    options = parser.parse_args()
    students = options.demo
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        if students:
            _choose_demo_home()
        if options.sandbox is not None:
            _choose_sandbox_home(options.sandbox)
            serve_sandbox(default_home(), options.sandbox)
        serve(default_home(), students, options.today)
    except Stopped:
        return 0
    except (CannotServe, EmbeddedPostgresError) as reason:
        sys.stderr.write(f"{reason}\n")
    except OSError as error:
        sys.stderr.write(f"Meadowlark cannot run: {error}{_what_to_do(error)}\n")
    return 1


def _what_to_do(error: OSError) -> str:
    """A sentence for errors of files, which are all in the home."""
    if error.errno == errno.ENOSPC:
        return ". Free some space, or name a folder on another disk with MEADOWLARK_HOME."
    if error.errno in _NOT_WRITABLE:
        return ". Make the folder writable for this account, or name another one with MEADOWLARK_HOME."
    return ""


class Schedule:
    """`manage.py run_schedule`, which is started again if it ends by itself; nothing for an empty schedule."""

    def __init__(self, running: ExitStack, environment: Mapping[str, str]) -> None:
        self._running = running
        self._environment = environment
        self._is_empty = not environment.get(SETTINGS["SCHEDULE"].variable, SETTINGS["SCHEDULE"].default).strip()
        self._process: subprocess.Popen[bytes] | None = None
        self._due = 0.0

    def ensure_running(self) -> None:
        """A new one at most once a minute."""
        if self._is_empty or (self._process and self._process.poll() is None) or time.monotonic() < self._due:
            return
        self._process = _start(self._running, ["meadowlark.run.command_line", "run_schedule"], self._environment)
        self._due = time.monotonic() + _RESTART_SECONDS


class Exchange:
    """`manage.py run_exchange`, once there is an enabled connection to another API."""

    _ENABLED = "SELECT EXISTS (SELECT FROM exchange_connection WHERE is_enabled)"

    def __init__(self, running: ExitStack, environment: Mapping[str, str], database_url: str) -> None:
        self._running = running
        self._environment = environment
        self._database_url = database_url
        self._process: subprocess.Popen[bytes] | None = None
        self._due = 0.0

    def ensure_running(self) -> None:
        """Start the process if it is needed, which is looked up every half a minute; without connections there is no
        process that would take memory for nothing."""
        if (self._process and self._process.poll() is None) or time.monotonic() < self._due:
            return
        self._due = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        if self._is_needed():
            self._process = _start(self._running, ["meadowlark.run.command_line", "run_exchange"], self._environment)

    def _is_needed(self) -> bool:
        try:
            with psycopg.connect(self._database_url, connect_timeout=2) as connection:
                return bool((connection.execute(self._ENABLED).fetchone() or [False])[0])
        except psycopg.Error:
            return False  # Requests report it.


def _choose_demo_home() -> None:
    """The made-up district must not get into a database with other data."""
    if os.environ.get("DATABASE_URL", "").strip():
        raise CannotServe("DATABASE_URL is set. The demo has a database of its own: unset DATABASE_URL.")
    if not os.environ.get("MEADOWLARK_HOME"):
        os.environ["MEADOWLARK_HOME"] = DEMO_HOME
    if not os.environ.get("MEADOWLARK_RULES"):
        os.environ["MEADOWLARK_RULES"] = DEMO_RULES


def _choose_sandbox_home(arguments: list[str]) -> None:
    """The first argument of `create_sandbox` is the name."""
    if os.environ.get("DATABASE_URL", "").strip():
        raise CannotServe("DATABASE_URL is set. This sandbox has a database of its own: unset DATABASE_URL.")
    if not arguments or not arguments[0].replace("-", "x").isalnum() or arguments[0].startswith("-"):
        raise CannotServe("Name the sandbox: make sandbox NAME=lakeside SHAPE=sis")
    os.environ.setdefault("MEADOWLARK_HOME", f"{SANDBOXES}/{arguments[0]}")
    # Documents are in the sandbox alone.
    os.environ["MEADOWLARK_MAIN_STORE"] = "false"


def serve_sandbox(home: Path, arguments: list[str]) -> NoReturn:
    """Serve a sandbox, which is made at the first start, and never return: raises what `serve` does."""
    port = _port()
    address = f"http://{ADDRESS}:{port}"
    with ExitStack() as running:
        _print(f"Starting PostgreSQL in {home} ...")
        postgres = running.enter_context(EmbeddedPostgres(home))
        _ensure_free(port)
        key = os.environ.get("MEADOWLARK_SECRET_KEY") or make_key(home)
        environment = _WITH_OWN_DATABASE | os.environ | {"MEADOWLARK_SECRET_KEY": key}
        _run_to_its_end(["meadowlark.prepare", "--refuse-newer"], environment, postgres)
        gunicorn = _start_gunicorn(running, port, environment)
        create = ["meadowlark.run.command_line", "create_sandbox", *arguments, "--address", address]
        _print(_run_to_its_end(create, environment, postgres).decode())
        _print(f"{for_commands()}The report of a run, and what was refused: {address}/submissions (Ctrl-C stops it)")
        _watch(gunicorn, postgres, [Schedule(running, environment)])


def serve(home: Path, demo_students: str | None = None, demo_today: str = "") -> NoReturn:
    """Serve, and never return: raises Stopped, Refused, EmbeddedPostgresError or OSError, after stopping
    the servers.
    """
    port = _port()
    reader_port = port_for_reader(port) if demo_students else None
    with ExitStack() as running:
        postgres, defaults = None, {}
        if not os.environ.get("DATABASE_URL", "").strip():
            _print(f"Starting PostgreSQL in {home} ...")
            postgres = running.enter_context(EmbeddedPostgres(home, port=reader_port))
            defaults = _WITH_OWN_DATABASE
        _ensure_free(port)
        key = os.environ.get("MEADOWLARK_SECRET_KEY") or make_key(home)
        environment = defaults | os.environ | {"MEADOWLARK_SECRET_KEY": key}
        demo = ["--demo-district", demo_students, "--demo-administrator", DEMO_ADMINISTRATOR] if demo_students else []
        demo += ["--demo-today", demo_today] if demo and demo_today else []
        credentials = _prepare(environment, postgres, demo)
        # Before anything else can fail: the secret of a new client cannot be read again.
        _print(credentials_text(credentials))
        if demo_students:
            environment |= _docs_client(home, credentials.client)
        gunicorn = _start_gunicorn(running, port, environment)
        address = f"http://{ADDRESS}:{port}"
        send(address + credentials.client.address, [DemoVendor(**each) for each in credentials.client.vendors])
        _print(welcome(address, credentials, home if postgres else None, reader_port))
        database_url = environment.get("DATABASE_URL", "").strip() or url(home)
        _watch(gunicorn, postgres, [Schedule(running, environment), Exchange(running, environment, database_url)])


def _docs_client(home: Path, client: DemoClient) -> dict[str, str]:
    """Return what lets `/docs` fill in the client of a demonstration, which only this machine reaches."""
    setting = SETTINGS["DOCS_CLIENT"].variable
    offered = "" if client.address else keep_client(home, client.key, client.secret)
    return {setting: offered} if offered and not os.environ.get(setting) else {}


def _stop(*_: int | FrameType | None) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # A second signal must not interrupt the shutdown.
    raise Stopped


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _port() -> int:
    text = os.environ.get("MEADOWLARK_PORT") or f"{SETTINGS['PORT'].default}"
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise CannotServe(f"MEADOWLARK_PORT is {text!r}; it must be a port number, 1 to 65535.")
    return int(text)


def _ensure_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError as error:
            raise CannotServe(
                f"Port {port} on {ADDRESS} cannot be used ({error.strerror}). Stop what uses it, or choose another one:"
                " MEADOWLARK_PORT=8001 make run"
            ) from None


def _prepare(environment: Mapping[str, str], postgres: EmbeddedPostgres | None, demo: list[str]) -> DemoCredentials:
    """Prepare in a child process, because Django and the model would remain in the memory of this one."""
    command = ["meadowlark.prepare", "--refuse-newer", "--demo-client", DEMO_CLIENT, DEMO_CLAIM_SET, *demo]
    made = json.loads(_run_to_its_end(command, environment, postgres))
    administrator = Administrator(**made["administrator"]) if "administrator" in made else None
    return DemoCredentials(DemoClient(**made["client"]), administrator, made["has_reader"])


def _run_to_its_end(command: list[str], environment: Mapping[str, str], postgres: EmbeddedPostgres | None) -> bytes:
    """The output of a module that runs in a child process. Raises CannotServe if it fails."""
    with ExitStack() as running:
        process = _start(running, command, environment, stdout=subprocess.PIPE)
        output, _ = process.communicate()
    if process.returncode:
        raise CannotServe(f"Meadowlark was not started, for the reason above.{_failure_of(postgres)}")
    return output


def _failure_of(postgres: EmbeddedPostgres | None) -> str:
    """A server that fails, for a full disk for example, reports the reason in its log, not to its clients."""
    failure = postgres.failure() if postgres else ""
    return f" PostgreSQL failed: {failure}" if failure else ""


def _start_gunicorn(running: ExitStack, port: int, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    settings = ["--config", "python:meadowlark.serving.gunicorn_conf", "--bind", f"{ADDRESS}:{port}"]
    gunicorn = _start(running, ["gunicorn", *settings, "meadowlark.wsgi:application"], environment)
    while not _is_answering(port):
        _ensure_alive(gunicorn)
        time.sleep(0.05)
    return gunicorn


def _start(
    running: ExitStack, module: list[str], environment: Mapping[str, str], stdout: int | None = None
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        ending_with_us([sys.executable, "-m", *module], signal.SIGTERM),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        start_new_session=True,
    )
    running.callback(end_session, process, _STOP_SECONDS)
    return process


def _is_answering(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((ADDRESS, port)) == 0


def _watch(
    gunicorn: subprocess.Popen[bytes], postgres: EmbeddedPostgres | None, others: Sequence[Schedule | Exchange]
) -> NoReturn:
    while True:
        _ensure_alive(gunicorn)
        for each in others:
            each.ensure_running()
        if postgres and not postgres.is_running():
            raise CannotServe(f"PostgreSQL ended by itself: {postgres.exit_reason()}")
        time.sleep(0.5)


def _ensure_alive(gunicorn: subprocess.Popen[bytes]) -> None:
    if gunicorn.poll() is not None:
        raise CannotServe(f"The web server ended by itself with status {gunicorn.returncode}; the reason stands above.")


if __name__ == "__main__":
    sys.exit(main())
