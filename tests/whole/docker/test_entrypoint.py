"""docker/entrypoint.sh, run without a container, against existing, empty, late and missing databases."""

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from edfi_api.common.one_process import PREPARING
from tests.support.forking import forked, preparing
from tests.support.ports import free_port
from tests.whole.docker.conftest import Database

TOP = Path(__file__).parents[3]
UNREACHABLE_DATABASE = "postgresql://meadowlark:hidden@127.0.0.1:1/meadowlark"
WAITING_FOR_ANOTHER_PROCESS = "Another process is preparing this database; waiting for it."
# A migration and the school years are missing.
UNPREPARE = """
DROP TABLE dead_letter;
DELETE FROM django_migrations WHERE app = 'change_stream';
DELETE FROM migration_digest WHERE app = 'change_stream';
DELETE FROM document WHERE body ? 'currentSchoolYear'
"""
IS_PREPARED = """
SELECT to_regclass('dead_letter') IS NOT NULL,
       51 = (SELECT count(*) FROM document WHERE body ? 'currentSchoolYear')
"""


class Container:
    """The entry point as a process of this machine."""

    def __init__(self, output: Path, **variables: str) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self._output = output
        with output.open("w") as file:
            self.process = psutil.Popen(
                ["sh", "docker/entrypoint.sh", "--bind", self.address],
                cwd=TOP,
                env=_environment() | variables,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        return self._output.read_text()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 120
        while not condition():
            assert self.process.poll() is None and time.monotonic() < deadline, self.output
            time.sleep(0.05)

    def is_serving(self) -> bool:
        try:
            return self.status("/health/ready") == 200
        except OSError:
            return False

    def status(self, path: str, host: str = "localhost") -> int:
        """Return the status of the answer to a GET request."""
        with closing(http.client.HTTPConnection(self.address, timeout=60)) as connection:
            connection.request("GET", path, headers={"Host": host})
            return connection.getresponse().status

    def stop(self) -> int:
        """The exit status. Asserts that no child process is left."""
        family = self.process.children(recursive=True)
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        psutil.wait_procs(family, timeout=5)
        assert [process for process in family if process.is_running()] == []
        return status


Start = Callable[..., Container]


@pytest.fixture
def start(tmp_path: Path, home: Path) -> Iterator[Start]:
    """Starts containers that share a home, and stops those still running at the end."""
    with ExitStack() as running:

        def begin(name: str, database_url: str, **variables: str) -> Container:
            defaults = {"DATABASE_URL": database_url, "MEADOWLARK_HOME": str(home), "MEADOWLARK_WORKERS": "1"}
            container = Container(tmp_path / f"{name}.out", **defaults, **variables)
            running.callback(_end, container)
            return container

        yield begin


@pytest.mark.long
def test_containers_start_concurrently_on_an_empty_database(start: Start, empty_database: Database) -> None:
    containers = [start(name, empty_database.url) for name in ("one", "other")]
    for container in containers:
        container.wait_until(container.is_serving)

    assert empty_database.documents("SchoolYearType") == 51
    assert [container.stop() for container in containers] == [0, 0]


@pytest.mark.long
def test_a_container_waits_while_another_process_prepares_the_database(
    start: Start, prepared_database: Database
) -> None:
    prepared_database.execute(UNPREPARE)
    with prepared_database.connect() as other:
        other.execute("SELECT pg_advisory_lock(%s)", [PREPARING])
        container = start("waiting", prepared_database.url)
        container.wait_until(lambda: WAITING_FOR_ANOTHER_PROCESS in container.output)
        time.sleep(0.5)  # Long enough for several attempts to take the lock.
        assert prepared_database.query(IS_PREPARED) == [(False, False)]

    container.wait_until(container.is_serving)
    assert prepared_database.query(IS_PREPARED) == [(True, True)]


@pytest.mark.long
def test_a_restart_keeps_the_current_school_year(prepared_database: Database, django_db_blocker: Any) -> None:
    assert _current_school_years(prepared_database) == [(2026,)]
    with prepared_database.connect() as connection:
        connection.execute(
            "UPDATE document d SET body = jsonb_set(body, '{currentSchoolYear}', to_jsonb(d.natural_key LIKE '%2027'))"
            " WHERE body ? 'currentSchoolYear'"
        )

    with django_db_blocker.unblock():
        forked(preparing, prepared_database.name).check_returncode()

    assert _current_school_years(prepared_database) == [(2027,)]


def test_a_container_waits_for_its_database_and_serves_until_sigterm(
    start: Start, missing_database: Database, prepared_once: Database
) -> None:
    container = start("early", missing_database.url, MEADOWLARK_ALLOWED_HOSTS="api.example.org")
    container.wait_until(lambda: "Waiting up to 60 seconds for the database" in container.output)

    prepared_once.copy_to(missing_database)

    container.wait_until(container.is_serving)
    assert container.status("/health/live") == 200
    assert container.status("/", host="api.example.org") == 200
    assert container.status("/", host="elsewhere.org") == 400
    # The signal goes to the started process: the shell has been replaced by the web server.
    assert "gunicorn" in container.process.cmdline()
    assert container.stop() == 0


def test_an_unreachable_database_ends_the_wait(start: Start) -> None:
    container = start("hopeless", UNREACHABLE_DATABASE, MEADOWLARK_DATABASE_WAIT="1")

    assert container.process.wait(60) == 1
    assert "The database cannot be used" in container.output
    assert "hidden" not in container.output
    assert "Traceback" not in container.output


def test_a_database_of_another_encoding_is_not_served(start: Start, missing_database: Database) -> None:
    missing_database.create("ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'")

    container = start("narrow", missing_database.url)

    assert container.process.wait(60) == 1
    assert container.output.startswith(
        f'The encoding of the database "{missing_database.name}" is LATIN1; it has to be UTF8,'
    )
    assert container.output.count("\n") == 1


def test_sigterm_ends_the_wait(start: Start) -> None:
    container = start("impatient", UNREACHABLE_DATABASE)
    container.wait_until(lambda: "Waiting" in container.output)

    assert container.stop() == 128 + signal.SIGTERM


def test_a_missing_database_url_is_an_error(start: Start) -> None:
    container = start("lost", "")

    assert container.process.wait(60) == 2
    assert "DATABASE_URL must be the address of a PostgreSQL server" in container.output


def _environment() -> dict[str, str]:
    """The interpreter of the tests is first in PATH, as in the image."""
    return os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


def _current_school_years(database: Database) -> list[tuple[int]]:
    with database.connect() as connection:
        return connection.execute(
            "SELECT (body ->> 'schoolYear')::int FROM document WHERE body -> 'currentSchoolYear' = 'true'"
        ).fetchall()


def _end(container: Container) -> None:
    if container.process.poll() is None:
        container.stop()
