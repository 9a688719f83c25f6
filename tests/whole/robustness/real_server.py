"""A complete server for tests: a separate, durable PostgreSQL, gunicorn, and HTTP clients."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from email.message import Message
from pathlib import Path
from typing import NamedTuple, Self

import psutil
import psycopg

from meadowlark.run.embedded_postgres import EmbeddedPostgres
from tests.support.homes import client_of_home
from tests.support.ports import free_port, is_answering
from tests.whole.robustness.other_server import postmaster
from tests.whole.robustness.waiting import wait_until

TOP = Path(__file__).parents[3]
_START_SECONDS = 60


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes


class RealServer:
    """A context manager that runs the server in a home of `tests/support/homes.py`. `kill_database` and
    `start_database` may be called within it."""

    # Timeouts of statements and locks.
    STATEMENT_SECONDS = 4
    LOCK_SECONDS = 2
    # Timeout for the rest of a request.
    REQUEST_SECONDS = 5
    # How long it caches a token.
    TOKEN_CACHE_SECONDS = 2

    def __init__(self, home: Path, **environment: str) -> None:
        self.home = home
        self._own_environment = environment
        self.port = free_port()
        self.log = home / "gunicorn.log"
        self.token = ""
        self.credentials: dict[str, str] = {}
        self._database = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as until_up:
            until_up.callback(self.end_database)
            self.start_database()
            self.gunicorn = until_up.enter_context(self._running_gunicorn())
            self.credentials = self.own_credentials()
            self.token = self._token(self.credentials)
            self._undo = until_up.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def start_database(self) -> None:
        postgres = self._database.enter_context(EmbeddedPostgres(self.home))
        self.database_url = postgres.url

    def kill_database(self, number: signal.Signals) -> None:
        """SIGQUIT is PostgreSQL's immediate shutdown; SIGKILL is a crash. On a full disk it may have ended already."""
        with suppress(FileNotFoundError, psutil.NoSuchProcess):
            psutil.Process(postmaster(self.data)).send_signal(number)
        self.end_database()

    @property
    def data(self) -> Path:
        """The data folder of PostgreSQL."""
        return self.home / "postgres"

    def end_database(self) -> None:
        """Stops the database, unless it has ended."""
        self._database.close()

    def workers(self) -> list[psutil.Process]:
        return psutil.Process(self.gunicorn.pid).children()

    def stored_student_ids(self) -> set[str]:
        with psycopg.connect(self.database_url) as connection:
            rows = connection.execute("SELECT body ->> 'studentUniqueId' FROM document").fetchall()
        return {row[0] for row in rows}

    @contextmanager
    def client(self) -> Iterator["RealClient"]:
        with closing(RealClient(self.port, self.token)) as client:
            yield client

    def own_credentials(self) -> dict[str, str]:
        """The token request of the client of the home."""
        return _token_request(client_of_home(self.home))

    def new_token(self, client: str) -> str:
        """A token of a new API client."""
        made = self.manage("create_api_client", client, "--claim-set", "EdFiSandbox", "--format", "json")
        return self._token(_token_request(json.loads(made)))

    def another_token(self) -> str:
        """Another token of the server's client."""
        return self._token(self.credentials)

    def manage(self, *arguments: str, **environment: str) -> bytes:
        command = [sys.executable, "manage.py", *arguments]
        environment = self._environment() | environment
        return subprocess.run(command, cwd=TOP, env=environment, check=True, stdout=subprocess.PIPE).stdout

    @contextmanager
    def _running_gunicorn(self) -> Iterator[subprocess.Popen[bytes]]:
        settings = ["--config", "python:meadowlark.serving.gunicorn_conf", "--bind", f"127.0.0.1:{self.port}"]
        command = [sys.executable, "-m", "gunicorn", *settings, "meadowlark.wsgi:application"]
        with self.log.open("wb") as log:
            process = subprocess.Popen(command, cwd=TOP, env=self._environment(), stdout=log, stderr=log)
        try:
            self._wait_until_it_answers(process)
            yield process
        finally:
            process.terminate()
            process.wait(30)

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        def answers() -> bool:
            assert process.poll() is None, self.log.read_text()
            return is_answering(self.port)

        wait_until(answers, _START_SECONDS)

    def _environment(self) -> dict[str, str]:
        own = {"DATABASE_URL": self.database_url, "MEADOWLARK_HOME": str(self.home)}
        limits = {
            "MEADOWLARK_STATEMENT_SECONDS": str(self.STATEMENT_SECONDS),
            "MEADOWLARK_LOCK_SECONDS": str(self.LOCK_SECONDS),
            "MEADOWLARK_REQUEST_SECONDS": str(self.REQUEST_SECONDS),
            "MEADOWLARK_TOKEN_CACHE_SECONDS": str(self.TOKEN_CACHE_SECONDS),
        }
        threads = {"MEADOWLARK_WORKERS": "2", "MEADOWLARK_THREADS": "4"}
        management = {"MEADOWLARK_MANAGEMENT_PATH": "config"}
        return os.environ | own | limits | threads | management | self._own_environment

    def _token(self, credentials: dict[str, str]) -> str:
        with closing(RealClient(self.port, token="")) as client:
            answer = client.send("POST", "/oauth/token", credentials)
        assert answer.status == 200, answer
        return json.loads(answer.body)["access_token"]


def _token_request(client: Mapping[str, str]) -> dict[str, str]:
    return {"grant_type": "client_credentials", "client_id": client["key"], "client_secret": client["secret"]}


class RealClient:
    """A client with one persistent connection, opened again if the server has closed it."""

    def __init__(self, port: int, token: str, seconds: float = 30) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
        authorization = {"Authorization": f"Bearer {token}"} if token else {}
        self._headers = authorization | {"Content-Type": "application/json"}

    def send(self, method: str, path: str, body: object = None) -> Answer:
        """Raises OSError or HTTPException without an answer; the request may have been executed nevertheless."""
        try:
            self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
            response = self._connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()
