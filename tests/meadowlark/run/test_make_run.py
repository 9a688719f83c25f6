"""`make run`: start in a new home, restart, error messages, and shutdown of all processes."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from meadowlark.run import embedded_postgres
from meadowlark.run.embedded_postgres import EmbeddedPostgres, LoginPort
from tests.meadowlark.run.make_run import Client, Run
from tests.support.ports import free_port

TOP = Path(__file__).parents[3]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
SCHOOL = {
    "schoolId": 122,
    "nameOfInstitution": "Lark Meadow High School",
    "educationOrganizationCategories": [
        {"educationOrganizationCategoryDescriptor": "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"}
    ],
    "gradeLevels": [{"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"}],
}


def test_a_fresh_home_serves_and_a_second_run_keeps_its_data(tmp_path: Path) -> None:
    home = tmp_path / "home"

    first = Run(home, free_port())
    first.wait_until_served()
    assert first.web_server().environ()["MEADOWLARK_GROUP_MILLISECONDS"] == "20"
    key, secret = first.credentials()
    client = Client(first.address, key, secret)
    assert client.get("schoolYearTypes", schoolYear=2026)[0]["currentSchoolYear"] is True
    assert client.post("schools", SCHOOL) == 201
    assert first.stop(signal.SIGTERM) == 0

    # As Compose passes an unset variable in quotes.
    second = Run(home, free_port(), DATABASE_URL=" ", MEADOWLARK_GROUP_MILLISECONDS="5")
    second.wait_until_served()
    assert second.web_server().environ()["MEADOWLARK_GROUP_MILLISECONDS"] == "5"
    client = Client(second.address, key, secret)
    assert client.post("schools", SCHOOL) == 200
    assert client.get("schools")[0]["nameOfInstitution"] == "Lark Meadow High School"
    assert secret not in second.output
    assert second.stop(signal.SIGINT) == 0


@pytest.mark.long
def test_two_homes_are_served_beside_each_other(tmp_path: Path, prepared_home: Callable[[Path], Path]) -> None:
    runs = [Run(prepared_home(tmp_path / name), free_port()) for name in ("one", "other")]
    for run in runs:
        run.wait_until_served()

    assert [httpx.get(f"{run.address}/health/ready").status_code for run in runs] == [200, 200]
    assert [run.stop(signal.SIGTERM) for run in runs] == [0, 0]


def test_a_port_in_use_is_reported_without_a_traceback(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        run = Run(tmp_path / "home", port)

        assert run.process.wait(60) == 1
    assert f"Port {port} on 127.0.0.1 cannot be used" in run.output
    assert "Traceback" not in run.output


def test_an_unreachable_database_is_reported_without_a_traceback(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", free_port(), DATABASE_URL="postgresql://nobody:hidden@127.0.0.1:1/nothing")

    assert run.process.wait(60) == 1
    assert "The database cannot be used" in run.output
    assert "(check host, port, user, password and database in DATABASE_URL)\n" in run.output
    assert "hidden" not in run.output
    assert "Traceback" not in run.output


def test_a_wrong_password_is_reported_with_what_to_check(tmp_path: Path, prepared_home: Callable[[Path], Path]) -> None:
    port = free_port()
    with EmbeddedPostgres(prepared_home(tmp_path / "other"), port=LoginPort("clerk", port)):
        run = Run(tmp_path / "home", free_port(), DATABASE_URL=f"postgresql://clerk:wrong@127.0.0.1:{port}/meadowlark")
        status = run.process.wait(60)

    assert status == 1
    assert 'password authentication failed for user "clerk"' in run.output
    assert "(check host, port, user, password and database in DATABASE_URL)\n" in run.output
    assert "wrong" not in run.output
    assert "Traceback" not in run.output


@pytest.mark.long
def test_a_home_outlives_a_failed_start_and_a_killed_web_server(
    tmp_path: Path, prepared_home: Callable[[Path], Path]
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    home, port = prepared_home(tmp_path / "home"), free_port()
    failed = Run(home, port, GUNICORN_CMD_ARGS="--no-such-option")
    assert failed.process.wait(120) == 1
    key, secret = failed.credentials()

    run = Run(home, port, TMPDIR=str(temporary), MEADOWLARK_SCHEDULE="2s housekeeping")
    run.wait_until_served()
    assert Client(run.address, key, secret).get("schoolYearTypes", schoolYear=2026)[0]["currentSchoolYear"] is True
    run.wait_until_printed("clearsessions: done")
    # A client that keeps its connection, as browsers do, must not keep gunicorn's workers for the graceful timeout.
    with httpx.Client() as visitor:
        assert visitor.get(f"{run.address}/health/live").status_code == 200

        run.web_server().kill()

        assert run.process.wait(60) == 1
        assert "The web server ended by itself with status -9" in run.output
        again = Run(home, port, TMPDIR=str(temporary), MEADOWLARK_SCHEDULE="2s housekeeping")
        again.wait_until_served()
        assert visitor.get(f"{again.address}/health/live").status_code == 200
    again.wait_until_printed("clearsessions: done")
    assert again.stop(signal.SIGTERM) == 0
    assert list(temporary.iterdir()) == []


def test_a_home_of_a_newer_version_is_refused(tmp_path: Path, prepared_home: Callable[[Path], Path]) -> None:
    home = prepared_home(tmp_path / "home")
    with EmbeddedPostgres(home) as server, psycopg.connect(server.url) as connection:
        connection.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('edfi_api', '0999_later', now())"
        )

    run = Run(home, free_port())

    assert run.process.wait(60) == 1
    assert "A newer version of Meadowlark has migrated the database (edfi_api.0999_later); run that one." in run.output
    assert "Traceback" not in run.output


def test_an_invalid_database_url_is_reported_in_one_line(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", free_port(), DATABASE_URL="postgresql://meadowlark:hid/den@127.0.0.1/meadowlark")

    assert run.process.wait(60) == 1
    assert run.output == (
        "The settings cannot be used: DATABASE_URL is not of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE:"
        " its port is not a number up to 65535. In a password, characters such as / and # have to be written as %2F and"
        " %23.\n"
        "Meadowlark was not started, for the reason above.\n"
    )


@needs_root
@pytest.mark.parametrize("megabytes", [8, pytest.param(62, marks=pytest.mark.long)])
def test_a_full_disk_is_reported(tmp_path: Path, megabytes: int) -> None:
    """The smaller one is full while PostgreSQL initialises its data, the larger while the database is prepared."""
    with _mounted(tmp_path / "disk", f"size={megabytes}m") as disk:
        run = Run(disk / "home", free_port(), output=tmp_path / "run.out")
        status = run.process.wait(120)

    output = run.output
    assert status == 1
    reasons = [line for line in output.splitlines() if "No space left on device" in line]
    beginnings = ("PostgreSQL could not be initialised", "The database cannot be used", "Meadowlark was not")
    assert reasons and all(reason.startswith(beginnings) for reason in reasons)
    assert "Free some space" in output or "Check free disk space" in output
    assert "Traceback" not in output


@needs_root
def test_a_read_only_home_is_reported(tmp_path: Path) -> None:
    with _mounted(tmp_path / "disk", "ro") as disk:
        run = Run(disk / "home", free_port(), output=tmp_path / "run.out")
        status = run.process.wait(60)

    assert status == 1
    assert run.output.splitlines()[1:] == [
        f"Meadowlark cannot run: [Errno 30] Read-only file system: '{disk}/home'. Make the folder writable for this"
        " account, or name another one with MEADOWLARK_HOME."
    ]


@pytest.mark.long
def test_a_first_start_that_is_killed_at_any_phase_is_completed_by_the_next(tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()

    def has(question: str) -> bool:
        with suppress(psycopg.Error), psycopg.connect(embedded_postgres.url(home)) as connection:
            return connection.execute(question).fetchone() == (True,)
        return False

    phases: list[Callable[[Run], bool]] = [
        lambda _: (home / "postgres.new" / "base").exists(),
        lambda _: (home / "postgres" / "postmaster.pid").exists(),
        lambda _: has("SELECT count(*) > 0 FROM django_migrations"),
        lambda _: has("SELECT count(*) > 40 FROM django_migrations"),
        lambda _: has("SELECT count(*) > 0 FROM document"),
        lambda run: "client created" in run.output,
        lambda run: "demo client" in run.output,
    ]
    for is_reached in phases:
        run = Run(home, port)
        while not is_reached(run):
            assert run.process.poll() is None and "A first request" not in run.output, run.output
            time.sleep(0.005)
        _kill(run)

    run = Run(home, port)
    run.wait_until_served()
    ready = httpx.get(f"{run.address}/health/ready")
    years = has(
        "SELECT count(*) = 51 FROM document JOIN resource_type t ON t.id = resource_type_id"
        " WHERE t.name = 'SchoolYearType'"
    )

    assert run.stop(signal.SIGTERM) == 0
    assert ready.status_code == 200
    assert years
    assert "Traceback" not in run.output


def test_an_invalid_port_is_refused(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", 0)

    assert run.process.wait(60) == 1
    assert run.output == "MEADOWLARK_PORT is '0'; it must be a port number, 1 to 65535.\n"


def test_an_unusable_schedule_is_refused(tmp_path: Path) -> None:
    run = Run(tmp_path / "home", free_port(), MEADOWLARK_SCHEDULE="daily housekeeping")

    assert run.process.wait(60) == 1
    assert "In MEADOWLARK_SCHEDULE, 'daily housekeeping' is not of the form '24h COMMAND'" in run.output
    assert "Traceback" not in run.output


@contextmanager
def _mounted(disk: Path, options: str) -> Iterator[Path]:
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=False)
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def _kill(run: Run) -> None:
    """Kill all processes of a run at once, as a power failure does."""
    parent = psutil.Process(run.process.pid)
    family = [parent, *parent.children(recursive=True)]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    run.process.wait()
    psutil.wait_procs(family, timeout=30)
