"""docker/entrypoint.sh, which needs no container: against databases that are there, empty, late or missing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psutil
import pytest

from meadowlark.prepare import PREPARING
from tests.docker.conftest import Database
from tests.ports import free_port

TOP = Path(__file__).parents[2]
NOBODY_LISTENS = "postgresql://meadowlark:hidden@127.0.0.1:1/meadowlark"
WAITS_FOR_ANOTHER = "Another process is preparing this database; waiting for it."


class Container:
    """What a container runs, as a process of this machine."""

    def __init__(self, output: Path, **variables: str) -> None:
        self.address = f"http://127.0.0.1:{free_port()}"
        self._output = output
        with output.open("w") as file:
            self.process = psutil.Popen(
                ["sh", "docker/entrypoint.sh", "--bind", self.address.removeprefix("http://")],
                cwd=TOP,
                env=_environment() | variables,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    @property
    def told(self) -> str:
        return self._output.read_text()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not condition():
            assert self.process.poll() is None and time.monotonic() < deadline, self.told
            time.sleep(0.05)

    def is_serving(self) -> bool:
        try:
            return httpx.get(f"{self.address}/health/ready").status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> int:
        """Its exit status, after nothing that it started is left."""
        family = self.process.children(recursive=True)
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        psutil.wait_procs(family, timeout=5)
        assert [process for process in family if process.is_running()] == []
        return status


Start = Callable[..., Container]


@pytest.fixture
def start(tmp_path: Path, home: Path) -> Iterator[Start]:
    """Starts containers that share a home; those still running at the end are stopped."""
    with ExitStack() as running:

        def begin(name: str, database_url: str, **variables: str) -> Container:
            ours = {"DATABASE_URL": database_url, "MEADOWLARK_HOME": str(home), "MEADOWLARK_WORKERS": "1"}
            container = Container(tmp_path / f"{name}.out", **ours, **variables)
            running.callback(_end, container)
            return container

        yield begin


def test_an_empty_database_is_filled_and_served_until_sigterm(start: Start, empty_database: Database) -> None:
    container = start("only", empty_database.url, MEADOWLARK_ALLOWED_HOSTS="api.example.org")
    container.wait_until(container.is_serving)

    assert httpx.get(f"{container.address}/health/live").status_code == 200
    assert httpx.get(f"{container.address}/", headers={"Host": "api.example.org"}).status_code == 200
    assert httpx.get(f"{container.address}/", headers={"Host": "elsewhere.org"}).status_code == 400
    assert empty_database.documents("SchoolYearType") == 51
    # The signal goes to the process that was started: the shell has become the web server.
    assert "gunicorn" in container.process.cmdline()
    assert container.stop() == 0


def test_several_may_start_at_once_on_an_empty_database(start: Start, empty_database: Database) -> None:
    containers = [start(name, empty_database.url) for name in ("one", "other")]

    for container in containers:
        container.wait_until(container.is_serving)

    assert empty_database.documents("SchoolYearType") == 51
    assert [container.stop() for container in containers] == [0, 0]


def test_a_database_that_another_process_prepares_is_left_alone(start: Start, empty_database: Database) -> None:
    with empty_database.connect() as other:
        other.execute("SELECT pg_advisory_lock(%s)", [PREPARING])
        container = start("patient", empty_database.url)
        container.wait_until(lambda: WAITS_FOR_ANOTHER in container.told)
        time.sleep(0.5)  # Long enough for several attempts to take the lock.
        assert not empty_database.has_tables()

    container.wait_until(container.is_serving)


def test_a_restart_keeps_the_current_school_year(prepared_database: Database, home: Path) -> None:
    assert _current_school_years(prepared_database) == [(2026,)]
    with prepared_database.connect() as connection:
        connection.execute(
            "UPDATE document SET body = jsonb_set(body, '{currentSchoolYear}', to_jsonb(natural_key LIKE '%2027'))"
            " WHERE body ? 'currentSchoolYear'"
        )

    _prepare(prepared_database, home)

    assert _current_school_years(prepared_database) == [(2027,)]


def test_a_late_database_is_waited_for(start: Start, missing_database: Database) -> None:
    container = start("early", missing_database.url)
    container.wait_until(lambda: "Waiting up to 60 seconds for the database" in container.told)

    missing_database.create()

    container.wait_until(container.is_serving)


def test_a_database_that_never_answers_ends_the_wait(start: Start) -> None:
    container = start("hopeless", NOBODY_LISTENS, MEADOWLARK_DATABASE_WAIT="1")

    assert container.process.wait(60) == 1
    assert "The database cannot be used" in container.told
    assert "hidden" not in container.told
    assert "Traceback" not in container.told


def test_a_database_of_another_encoding_is_not_served(start: Start, missing_database: Database) -> None:
    missing_database.create("ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'")

    container = start("narrow", missing_database.url)

    assert container.process.wait(60) == 1
    assert container.told.startswith(
        f'The encoding of the database "{missing_database.name}" is LATIN1; it has to be UTF8,'
    )
    assert container.told.count("\n") == 1


def test_sigterm_ends_the_wait(start: Start) -> None:
    container = start("impatient", NOBODY_LISTENS)
    container.wait_until(lambda: "Waiting" in container.told)

    assert container.stop() == 128 + signal.SIGTERM


def test_without_an_address_of_a_database_nothing_starts(start: Start) -> None:
    container = start("lost", "")

    assert container.process.wait(60) == 2
    assert "DATABASE_URL must be the address of a PostgreSQL server" in container.told


def _environment() -> dict[str, str]:
    """The interpreter of the tests first in the path, as that of the image is."""
    return os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


def _prepare(database: Database, home: Path) -> None:
    variables = {"DATABASE_URL": database.url, "MEADOWLARK_HOME": str(home)}
    subprocess.run([sys.executable, "-m", "meadowlark.prepare"], cwd=TOP, env=os.environ | variables, check=True)


def _current_school_years(database: Database) -> list[tuple[int]]:
    with database.connect() as connection:
        return connection.execute(
            "SELECT (body ->> 'schoolYear')::int FROM document WHERE body -> 'currentSchoolYear' = 'true'"
        ).fetchall()


def _end(container: Container) -> None:
    if container.process.poll() is None:
        container.stop()
