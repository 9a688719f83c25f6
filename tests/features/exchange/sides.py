"""Servers that push to each other, and pull from each other."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import psycopg

from tests.support.ports import ADDRESS
from tests.whole.robustness.real_server import RealServer

_TOP = Path(__file__).parents[3]
_DIGESTS = """
SELECT t.name || ' ' || d.natural_key, md5(d.body::text)
  FROM document d JOIN resource_type t ON t.id = d.resource_type_id
"""


@dataclass(frozen=True)
class Side:
    """A running server, and the variables with which commands find its database."""

    server: RealServer
    environment: dict[str, str]

    @property
    def address(self) -> str:
        return f"http://{ADDRESS}:{self.server.port}/"

    def client(self, token: str = "") -> httpx.Client:
        headers = {"Authorization": f"Bearer {token or self.server.token}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=60)

    def manage(self, *arguments: str, given: str = "") -> str:
        command = [sys.executable, "manage.py", *arguments]
        environment = os.environ | self.environment
        done = subprocess.run(
            command, cwd=_TOP, env=environment, input=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def documents(self) -> dict[str, str]:
        """Resource and natural key → digest of the body."""
        return dict(self.query(_DIGESTS))

    def query(self, statement: str) -> list[tuple]:
        with psycopg.connect(self.server.database_url) as connection:
            return connection.execute(statement).fetchall()

    def new_client(self, name: str, claim_set: str, *options: str) -> tuple[str, str]:
        """Key and secret."""
        made = json.loads(
            self.manage("create_api_client", name, "--claim-set", claim_set, *options, "--format", "json")
        )
        return made["key"], made["secret"]

    def connect(self, name: str, other: "Side", credentials: tuple[str, str], *options: str) -> None:
        """Store a connection that pushes to a remote API, as its client."""
        self._connect(name, "push", other, credentials, *options)

    def connect_to_pull(self, name: str, other: "Side", credentials: tuple[str, str], *options: str) -> None:
        """Store a connection that pulls from a remote API, as its client."""
        self._connect(name, "pull", other, credentials, *options)

    def pull(self, name: str, *options: str) -> str:
        """What the command prints."""
        return self.manage("pull_changes", name, *options)

    def _connect(self, name: str, direction: str, other: "Side", credentials: tuple[str, str], *options: str) -> None:
        key, secret = credentials
        arguments = (name, direction, other.address, "--key", key, *options)
        self.manage("add_connection", *arguments, given=f"{secret}\n")

    def push(self, name: str, *options: str) -> str:
        """What the command prints."""
        return self.manage("push_changes", name, *options)

    def kill_workers(self) -> None:
        """The processes that serve; others take their place."""
        for each in self.server.workers():
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()

    def kill_database(self) -> None:
        self.server.kill_database(signal.SIGKILL)
        self.server.start_database()

    @contextlib.contextmanager
    def restoring(self, ids: Sequence[str]) -> Iterator[None]:
        """Meanwhile these deleted documents are restored, as far as they can be."""
        command = [sys.executable, "manage.py", "restore_document", *ids]
        output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        restoring = subprocess.Popen(command, cwd=_TOP, env=os.environ | self.environment, **output) if ids else None
        yield
        if restoring is not None:
            restoring.wait()

    def restored(self) -> int:
        """How many documents have been deleted, and are there again."""
        return self.query(
            "SELECT count(DISTINCT document_uuid) FROM deleted_document JOIN document USING (document_uuid)"
        )[0][0]

    @contextlib.contextmanager
    def following(self, name: str, log: Path, command: str = "push_changes") -> Iterator["Follower"]:
        follower = Follower(self, name, log, command)
        try:
            yield follower
        finally:
            follower.end()


class Follower:
    """A process of a command with `--follow`."""

    def __init__(self, side: Side, name: str, log: Path, command: str) -> None:
        self._command = [sys.executable, "manage.py", command, name, "--follow"]
        self._side = side
        self._log = log
        self._process = self._start()

    def kill(self) -> None:
        """Kill it, and start another one."""
        self._process.kill()
        self._process.wait()
        self._process = self._start()

    def end(self) -> None:
        """End the process as an operator does."""
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(60) == 0, self._log.read_text()

    def _start(self) -> "subprocess.Popen[bytes]":
        with self._log.open("ab") as output:
            environment = os.environ | self._side.environment
            return subprocess.Popen(self._command, cwd=_TOP, env=environment, stdout=output, stderr=output)


@contextlib.contextmanager
def side(home: Path, **variables: str) -> Iterator[Side]:
    """A server in this prepared home."""
    limits = {"MEADOWLARK_STATEMENT_SECONDS": "60", "MEADOWLARK_LOCK_SECONDS": "60", "MEADOWLARK_REQUEST_SECONDS": "60"}
    given = {"MEADOWLARK_STORE_HOSTS": ADDRESS, "MEADOWLARK_STORE_KEY": "a key for tests", **limits, **variables}
    with RealServer(home, **given) as server:
        yield Side(server, {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(home), **given})
