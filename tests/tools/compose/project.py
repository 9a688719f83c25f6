"""docker/compose.yaml in a copy of the checkout, as a project of its own."""

import json
import os
import secrets
import shutil
import signal
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.support.ports import free_port
from tests.tools.compose.engine import Engine
from tests.tools.image.images import TOP

NAME = "meadowlark-of-tests"
PASSWORD = f"POSTGRES_PASSWORD={secrets.token_hex(24)}"
STUDENTS = "/data/ed-fi/students"
# Lines of docker/.env for all profiles but that of data stores.
PROFILES = [
    "COMPOSE_PROFILES=pgbouncer,replica,tls,monitoring",
    "DATABASE_HOST=pgbouncer",
    "MEADOWLARK_TRANSACTION_POOLING=true",
    "DATABASE_REPLICA_URL=postgresql://meadowlark@replica/meadowlark",
    "DOMAIN=localhost",
    "MEADOWLARK_ALLOWED_HOSTS=localhost,meadowlark",
    "MEADOWLARK_BEHIND_PROXY=true",
    "MEADOWLARK_HTTPS=true",
    "GRAFANA_PASSWORD=of tests",
]
_FILE = ["compose", "--file", "docker/compose.yaml"]
_PATIENCE_SECONDS = 240


class Project:
    """The services in the engine. `folder` is empty; it gets what a clone of the checkout would have."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.folder = folder
        self.port, self.grafana_port = free_port(), free_port()
        variables = {"COMPOSE_PROJECT_NAME": NAME, "MEADOWLARK_PORT": str(self.port)}
        self._engine = Engine(**engine.environment | variables, GRAFANA_PORT=str(self.grafana_port))
        files = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=TOP,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, files.split("\0")):
            if (TOP / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TOP / name, folder / name)

    def shell(self, commands: str) -> str:
        """Return what commands of the documentation print; raises if one fails."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env=self._engine.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def compose(self, *arguments: str) -> str:
        """Return what a command of Compose prints; raises if it fails."""
        return self._engine.output(*_FILE, *arguments, cwd=self.folder)

    def up(self, *lines: str) -> None:
        """Start all services of the profiles, with these lines in docker/.env beside the password."""
        (self.folder / "docker/.env").write_text("\n".join([PASSWORD, *lines, ""]))
        self.compose("up", "--build", "--wait", "--remove-orphans")

    def remove(self) -> None:
        """Stop all services, and remove their data, and the images that later builds have replaced."""
        self._engine.run(
            *_FILE, "--profile", "*", "down", "--volumes", "--remove-orphans", "--timeout=5", cwd=self.folder
        )
        self._engine.run("image", "prune", "--force", f"--filter=label=com.docker.compose.project={NAME}")

    def services(self) -> list[str]:
        """Names of those that run."""
        return self.compose("ps", "--services", "--status=running").split()

    def state(self, service: str) -> dict[str, Any]:
        """What the engine knows of the container of a service."""
        [container] = json.loads(self._engine.output("inspect", self.compose("ps", "--all", "--quiet", service)))
        return container

    def address(self, service: str) -> str:
        [network] = self.state(service)["NetworkSettings"]["Networks"].values()
        return network["IPAddress"]

    def execute(self, service: str, *command: str) -> str:
        return self.compose("exec", "--no-TTY", service, *command)

    def query(self, statement: str, service: str = "database") -> list[str]:
        """Return the rows of the database of a service, for the superuser."""
        psql = ["psql", "--username=postgres", "--dbname=meadowlark", "--no-align", "--tuples-only"]
        return self.execute(service, *psql, "--command", statement).splitlines()

    def kill(self, service: str) -> None:
        """Kill the first process of a container, as a lack of memory would; its engine does not know why it ended."""
        os.kill(self.state(service)["State"]["Pid"], signal.SIGKILL)

    def is_well(self, service: str) -> bool:
        """Whether the container runs, and is healthy if it has a check."""
        state = self.state(service)["State"]
        return state["Status"] == "running" and state.get("Health", {"Status": "healthy"})["Status"] == "healthy"

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/health/ready", timeout=20).status_code == 200
        except httpx.TransportError:
            return False

    def authority(self) -> ssl.SSLContext:
        """Trusts the authority that the proxy has made for itself, and no other."""
        return ssl.create_default_context(
            cadata=self.execute("tls", "cat", "/data/caddy/pki/authorities/local/root.crt")
        )

    def client(self, name: str = "", base_url: str = "", **options: Any) -> httpx.Client:
        """An API client with all rights, and a token. It sends to the port of the server without another address."""
        name = name or f"client-{secrets.token_hex(4)}"
        create = ["create_api_client", name, "--claim-set=EdFiSandbox", "--format=json"]
        made = json.loads(self.execute("meadowlark", "python", "manage.py", *create))
        address = base_url or f"http://127.0.0.1:{self.port}"
        form = {"grant_type": "client_credentials"}
        answer = httpx.post(f"{address}/oauth/token", auth=(made["key"], made["secret"]), data=form, **options)
        token = {"Authorization": f"Bearer {answer.json()['access_token']}"}
        return httpx.Client(base_url=address, headers=token, timeout=60, **options)


def wait_until(condition: Callable[[], Any], seconds: float = _PATIENCE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(1)


def student(number: int) -> dict[str, str]:
    return {
        "studentUniqueId": str(number),
        "firstName": "Mae",
        "lastSurname": "Ortiz",
        "birthDate": "2010-02-03",
    }


def student_numbers(api: httpx.Client, address: str) -> Iterator[int]:
    """Numbers of all students, of one page."""
    answer = api.get(address, params={"limit": 500})
    assert answer.status_code == 200, answer.text
    return (int(found["studentUniqueId"]) for found in answer.json())
