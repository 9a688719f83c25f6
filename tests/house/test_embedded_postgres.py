"""The embedded PostgreSQL: started, stopped, shared, and started again after every kind of death."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import psycopg
import pytest

from meadowlark import embedded_postgres
from meadowlark.embedded_postgres import AlreadyRunning, EmbeddedPostgres, EmbeddedPostgresError

TOP = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_the_url_is_known_without_touching_anything(home: Path) -> None:
    assert embedded_postgres.url(home) == f"postgresql://meadowlark@/meadowlark?host={home}/postgres"
    assert not home.exists()


def test_a_home_too_deep_for_a_socket_address_gets_a_short_folder(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)

    with EmbeddedPostgres(deep) as server:
        socket_folder = Path(server.url.partition("?host=")[2])
        answer = _ask(server.url, "SELECT 'here'")

    assert answer == "here"
    assert len(str(socket_folder)) < 60
    assert not socket_folder.exists()


def test_a_server_speaks_utf_8_and_listens_to_no_network(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        encoding = _ask(server.url, "SHOW server_encoding")
        collation = _ask(server.url, "SELECT datlocale FROM pg_database WHERE datname = current_database()")
        addresses = _ask(server.url, "SHOW listen_addresses")
        durable = _ask(server.url, "SHOW synchronous_commit")

    assert (encoding, collation, addresses, durable) == ("UTF8", "C.UTF-8", "", "on")


def test_nobody_else_may_enter_the_folder_of_the_socket(home: Path) -> None:
    with EmbeddedPostgres(home):
        mode = (home / "postgres").stat().st_mode

    assert mode & 0o077 == 0


def test_leaving_stops_the_server_and_the_data_stays(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        _do(server.url, "CREATE TABLE kept AS SELECT 42 AS value")

    with pytest.raises(psycopg.OperationalError):
        _ask(server.url, "SELECT 1")
    with EmbeddedPostgres(home) as server:
        assert _ask(server.url, "SELECT value FROM kept") == 42


def test_two_homes_run_side_by_side(tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path / "a") as first, EmbeddedPostgres(tmp_path / "b") as second:
        _do(first.url, "CREATE TABLE mine ()")

        assert _ask(first.url, "SELECT to_regclass('mine')") == "mine"
        assert _ask(second.url, "SELECT to_regclass('mine')") is None


def test_a_second_owner_of_a_home_is_refused_while_the_first_is_there(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        with pytest.raises(AlreadyRunning, match=r"already running in .*home"):
            EmbeddedPostgres(home).__enter__()

        assert _ask(server.url, "SELECT 1") == 1


def test_a_killed_owner_takes_the_server_along_and_what_was_committed_stays(home: Path) -> None:
    owner = _start("--home", home, "--", "sleep", "60")
    _wait_for(embedded_postgres.url(home))
    _do(embedded_postgres.url(home), "CREATE TABLE kept AS SELECT 42 AS value")

    def sleeping() -> list[psutil.Process]:
        ours = {"name": "sleep", "ppid": owner.pid}
        return [process for process in psutil.process_iter([*ours]) if process.info == ours]

    _wait_until(sleeping)
    [sleep] = sleeping()
    owner.kill()
    owner.wait()

    with EmbeddedPostgres(home) as server:
        assert _ask(server.url, "SELECT value FROM kept") == 42
    assert sleep.is_running()
    sleep.kill()


def test_a_killed_server_is_noticed_and_starts_again_with_what_was_committed(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        _do(server.url, "CREATE TABLE kept AS SELECT 42 AS value")
        os.kill(_postmaster(home), signal.SIGKILL)
        _wait_until(lambda: not server.is_running())

    with EmbeddedPostgres(home) as server:
        assert _ask(server.url, "SELECT value FROM kept") == 42


def test_a_process_id_left_behind_that_is_somebody_elses_by_now_is_no_obstacle(home: Path) -> None:
    with EmbeddedPostgres(home):
        pid_file = (home / "postgres" / "postmaster.pid").read_text()
    stale = pid_file.splitlines()
    stale[0] = str(os.getppid())
    (home / "postgres" / "postmaster.pid").write_text("\n".join(stale) + "\n")

    with EmbeddedPostgres(home) as server:
        assert _ask(server.url, "SELECT 1") == 1


def test_an_interrupted_initialisation_is_begun_anew(home: Path) -> None:
    (home / "postgres.new" / "base").mkdir(parents=True)

    with EmbeddedPostgres(home) as server:
        assert _ask(server.url, "SELECT 1") == 1


def test_a_data_folder_that_is_none_is_refused_with_postgresqls_own_words(home: Path) -> None:
    (home / "postgres").mkdir(parents=True, mode=0o700)

    with pytest.raises(EmbeddedPostgresError, match="did not start in"):
        EmbeddedPostgres(home).__enter__()


def test_the_command_line_runs_a_command_and_passes_its_exit_status_on(home: Path) -> None:
    script = "import os; print(os.environ['DATABASE_URL']); raise SystemExit(7)"

    done = _run("--home", home, "--", sys.executable, "-c", script)

    assert (done.returncode, done.stdout.strip()) == (7, embedded_postgres.url(home))


def test_the_command_line_uses_the_server_that_runs_already(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        done = _run("--home", home, "--", sys.executable, "-c", "import os; print(os.environ['DATABASE_URL'])")

        assert done.stdout.strip() == server.url
        assert _ask(server.url, "SELECT 1") == 1


def test_a_temporary_server_leaves_nothing_behind() -> None:
    done = _run("--temporary", "--", sys.executable, "-c", "import os; print(os.environ['DATABASE_URL'])")

    folder = Path(done.stdout.strip().partition("?host=")[2])
    assert folder.name == "postgres"
    assert not folder.parent.exists()


def test_sigterm_ends_the_command_and_the_server(home: Path) -> None:
    owner = _start("--home", home, "--", "sleep", "60")
    _wait_for(embedded_postgres.url(home))
    _wait_until(lambda: any(child.name() == "sleep" for child in psutil.Process(owner.pid).children()))

    owner.terminate()

    assert owner.wait(30) == 128 + signal.SIGTERM
    assert not (home / "postgres" / "postmaster.pid").exists()


def test_a_home_that_cannot_be_made_is_a_reason_not_a_traceback() -> None:
    done = _run("--home", "/dev/null/home", "--", "true")

    assert done.returncode == 1
    assert "/dev/null/home" in done.stderr
    assert "Traceback" not in done.stderr


def _ask(url: str, question: str) -> object:
    with psycopg.connect(url, connect_timeout=5) as connection:
        return connection.execute(question).fetchone()[0]


def _do(url: str, statement: str) -> None:
    with psycopg.connect(url, connect_timeout=5) as connection:
        connection.execute(statement)


def _command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "meadowlark.embedded_postgres", *map(str, arguments)]


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(_command(*arguments), cwd=TOP, capture_output=True, text=True, check=False, timeout=60)


def _start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(_command(*arguments), cwd=TOP, start_new_session=True)


def _postmaster(home: Path) -> int:
    return int((home / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def _wait_for(url: str) -> None:
    def answers() -> bool:
        try:
            return _ask(url, "SELECT true") is True
        except psycopg.OperationalError:
            return False

    _wait_until(answers)


def _wait_until(condition: object) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "waited 30 seconds in vain"
        time.sleep(0.05)
