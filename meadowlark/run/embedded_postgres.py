"""Runs the PostgreSQL of a Meadowlark home, for machines without a server: initialise, start, stop.

Its programs are those of `postgres_programs.py`. The server listens on a Unix socket, in a folder that only its account
may enter, and uses peer authentication for the account that started it, so there is no password. It listens to no
network, unless it is given a `LoginPort`. One process at a time owns the server of a home, by a lock file; any number
of processes of the same account may connect to `url(home)`.

    python -m meadowlark.run.embedded_postgres [--home HOME | --temporary] -- COMMAND ...

runs a command with DATABASE_URL and MEADOWLARK_RULE_DATABASE_URL set to a running server and passes its exit status on.
"""

# ruff: noqa: S603 - the commands run here are the wheel's programs and the caller's command.

import argparse
import contextlib
import fcntl
import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Self
from urllib.parse import quote

import psutil

from meadowlark.run.embedded_roles import APPLICATION, RULES, SUPERUSER, ensure_roles
from meadowlark.run.postgres_programs import EmbeddedPostgresError, account_for, command_line, working_directory

DATABASE = "meadowlark"
# The MEADOWLARK_RULE_DATABASE_URL of all homes: the login of rules, at the server of DATABASE_URL.
RULE_URL = f"postgresql://{RULES}@"
DURABLE = {
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Errors of statements are not logged: violations of foreign keys are answers to clients, not incidents.
    "log_min_messages": "log",
}
# The settings for disposable data: nothing waits for the disk.
VOLATILE = DURABLE | {
    "shared_buffers": "128MB",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "io_method": "sync",
}

_START_SECONDS = 300  # Enough to replay the WAL after a crash; a failed start is detected at once.
_STOP_SECONDS = 120
_SOCKET = ".s.PGSQL."
_SOCKET_NAME = f"{_SOCKET}5432"
_TEMPORARY = "meadowlark-temporary-"
_LOG = "postgres.log"
_PANIC = "PANIC:  "
_NO_SPACE = "No space left on device"
_ABOUT_SPACE = "Free some space, or name a folder on another disk with MEADOWLARK_HOME."
# The server's messages about its state.
_RESTARTS = "all server processes terminated; reinitializing"
_IS_READY = "database system is ready to accept connections"
_WRITTEN_HERE = "# Written at each start of meadowlark/run/embedded_postgres.py; changes are lost."
# macOS takes 103 bytes, Linux 107; a port may have one digit more.
_LONGEST_SOCKET_PATH = 102


@dataclass(frozen=True, slots=True)
class LoginPort:
    """A port of 127.0.0.1 at which one role may log in to the database, by its password."""

    role: str
    number: int


class AlreadyRunning(EmbeddedPostgresError):
    """Another process owns the server of this home."""


def url(home: Path) -> str:
    """The DATABASE_URL of the server of this home. Pure: the server need not run, nor the home exist."""
    return url_of(APPLICATION, home)


def url_of(role: str, home: Path) -> str:
    """Return the URL for another role, such as SUPERUSER."""
    return f"postgresql://{role}@/{DATABASE}?host={quote(str(_socket_folder(home)), safe='/')}"


def default_home() -> Path:
    """The home of this checkout, unless MEADOWLARK_HOME names another."""
    return Path(os.environ.get("MEADOWLARK_HOME") or Path(__file__).parents[2] / ".home").resolve()


def for_owner_only(path: str, flags: int) -> int:
    """An opener, for `open`, that creates files with mode 600."""
    return os.open(path, flags, mode=0o600)


class EmbeddedPostgres:
    """The server of one home, started on entering and stopped on leaving. Its log is `postgres.log` in the home."""

    def __init__(self, home: Path, settings: Mapping[str, str] = DURABLE, port: LoginPort | None = None) -> None:
        self.home = home.resolve()
        self.url = url(home)
        self._settings = settings
        self._port = port
        self._data = _data_folder(home)
        self._log = self.home / _LOG
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.home.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as until_up:
            until_up.enter_context(_lock(self.home))
            until_up.callback(_remove_socket_folder, _socket_folder(self.home), self._data)
            until_up.callback(self._stop)
            _stop_servers(self._data)
            self._prepare()
            self._start()
            ensure_roles(_socket_folder(self.home))
            self._undo = until_up.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def _stop(self) -> None:
        _stop_servers(self._data)
        if self._process is not None:
            self._process.poll()  # The operating system forgets the process.

    def is_running(self) -> bool:
        """False when the server has ended by itself."""
        return self._process is not None and self._process.poll() is None

    def exit_reason(self) -> str:
        """The error for which the server ended, or the end of its log, for a message."""
        return _reason(self._log_text())

    def failure(self) -> str:
        """The last PANIC in the log, even if the server has recovered since; empty without one."""
        log = self._log_text()
        return _reason(log) if _PANIC in log else ""

    def _log_text(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def _prepare(self) -> None:
        # Left by a crash. PostgreSQL refuses to start if another process has the process id in them by now.
        socket_folder = _socket_folder(self.home)
        for left in (self._data / "postmaster.pid", *socket_folder.glob(f"{_SOCKET}*")):
            left.unlink(missing_ok=True)
        if not self._data.exists():
            _initialize(self._data)
        _restrict_connections(self._data, self._port)
        _make_socket_folder(socket_folder, self._data)

    def _start(self) -> None:
        account = account_for(self._data)
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        socket_folder = _socket_folder(self.home)
        # Relative to the data folder, whose path the account may not be able to traverse.
        address = ["-k", "." if socket_folder == self._data else str(socket_folder)]
        address += ["-h", "127.0.0.1", "-p", str(self._port.number)] if self._port else ["-h", ""]
        # A session of its own, so that Ctrl-C on the terminal does not stop the database before the web server.
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command_line(account, "postgres", "-D", working_directory(account, self._data), *address, *settings),
                cwd=self._data,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait_until_ready()
        if self._port:
            # The socket has the number of the port in its name, and the addresses of homes have none.
            (socket_folder / _SOCKET_NAME).symlink_to(f"{_SOCKET}{self._port.number}")

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not _is_ready(self._data):
            if not self.is_running() or time.monotonic() > deadline:
                raise EmbeddedPostgresError(f"PostgreSQL did not start in {self._data}: {self.exit_reason()}")
            time.sleep(0.02)


def _run_command(command: Sequence[str], database_url: str) -> int:
    """Run a command with both addresses of the database set; return its exit status, 128 + N for a signal N."""
    addresses = {"DATABASE_URL": database_url, "MEADOWLARK_RULE_DATABASE_URL": RULE_URL}
    process = subprocess.Popen(command, env=os.environ | addresses)

    def pass_on(number: int, _: FrameType | None) -> None:
        process.send_signal(number)

    # Ctrl-C reaches the command directly, in the same terminal; other signals reach only this process.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGHUP, pass_on)
    status = process.wait()
    return status if status >= 0 else 128 - status


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(
        prog="python -m meadowlark.run.embedded_postgres", description=__doc__.split("\n")[0]
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--home", type=Path, default=default_home(), help="where the data is kept")
    place.add_argument("--temporary", action="store_true", help="a temporary server without durability, for tests")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="what to run with DATABASE_URL set")
    options = parser.parse_args(arguments)
    try:
        with _server(options) as database_url:
            return _run_command(options.command, database_url)
    except (EmbeddedPostgresError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


@contextlib.contextmanager
def _server(options: argparse.Namespace) -> Iterator[str]:
    with contextlib.ExitStack() as stack:
        home, settings = options.home, DURABLE
        if options.temporary:
            _remove_left_behind()
            home, settings = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=_TEMPORARY))), VOLATILE
        with contextlib.suppress(AlreadyRunning):  # Its server is used.
            stack.enter_context(EmbeddedPostgres(home, settings))
        yield url(home)


def _remove_left_behind() -> None:
    """Remove temporary homes whose owners were killed: their locks are free. Consider only homes with a data folder,
    which is created after the lock, since an owner that has just created its home does not hold the lock yet."""
    temporary = Path(tempfile.gettempdir())
    begun = [*temporary.glob(f"{_TEMPORARY}*/postgres"), *temporary.glob(f"{_TEMPORARY}*/postgres.new")]
    for home in {folder.parent for folder in begun}:
        with contextlib.suppress(OSError, AlreadyRunning), _lock(home, mode="r+"):
            if home.stat().st_uid == os.geteuid():
                _stop_servers(_data_folder(home))
                _remove_socket_folder(_socket_folder(home), _data_folder(home))
                shutil.rmtree(home)


def _data_folder(home: Path) -> Path:
    return home.resolve() / "postgres"


def _socket_folder(home: Path) -> Path:
    """The data folder itself, unless that makes the socket's path longer than a socket address can hold."""
    data = _data_folder(home)
    path = os.fsencode(data)
    if len(path) + 1 + len(_SOCKET_NAME) <= _LONGEST_SOCKET_PATH:
        return data
    # The folder is not TMPDIR, which may be long too, and which may differ between processes.
    return Path("/tmp") / f"meadowlark-{hashlib.sha256(path).hexdigest()[:24]}"  # noqa: S108


def _lock(home: Path, mode: str = "w") -> IO[str]:
    """An exclusive lock, held until the file is closed or this process ends. Raises AlreadyRunning."""
    lock = (home / "postgres.lock").open(mode)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise AlreadyRunning(
            f"Meadowlark is already running in {home}. Stop it first (Ctrl-C where it was started), or choose another"
            " data folder with MEADOWLARK_HOME and another port with MEADOWLARK_PORT to run a second one beside it."
        ) from None
    return lock


def _stop_servers(data: Path) -> None:
    """Stop the servers of the data folder, including one left by a killed owner. The caller holds the lock.

    First by fast shutdown, which disconnects clients and writes a checkpoint; after a timeout by immediate shutdown. At
    once by that while it recovers from a crash: PostgreSQL 18 may never end after a fast shutdown then, and the next
    start recovers again.
    """
    for number in [signal.SIGQUIT] if _recovers(data) else [signal.SIGINT, signal.SIGQUIT]:
        deadline = time.monotonic() + _STOP_SECONDS
        for server in _parents(_server_processes(data)):
            with contextlib.suppress(psutil.NoSuchProcess):
                server.send_signal(number)
        while _server_processes(data) and time.monotonic() < deadline:
            time.sleep(0.02)


def _recovers(data: Path) -> bool:
    """Return whether the server has restarted after a crash and is not ready again, by its new log."""
    log = data.with_name(_LOG)
    text = log.read_text(errors="replace") if log.exists() else ""
    return text.rfind(_RESTARTS) > text.rfind(_IS_READY)


def _server_processes(data: Path) -> list[psutil.Process]:
    """Found by their working directory, the data folder: a process id from a file could belong to another process."""
    ours = {"name": "postgres", "cwd": str(data)}
    return [process for process in psutil.process_iter([*ours, "ppid"]) if process.info | ours == process.info]


def _parents(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Return the processes whose parent is not among them: the postmaster, or its orphaned children if it
    was killed.
    """
    pids = {process.pid for process in processes}
    return [process for process in processes if process.info["ppid"] not in pids]


def _initialize(data: Path) -> None:
    """Create the data folder under a temporary name first, so that an interrupted attempt is not used as one."""
    account = account_for(data)
    draft = data.with_name("postgres.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    if account:
        os.chown(draft, account.pw_uid, account.pw_gid)
    place = ["-D", working_directory(account, draft)]
    text = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    doors = ["-U", SUPERUSER, "--auth-local=peer", "--auth-host=reject"]
    create = f"CREATE DATABASE {DATABASE}\n"
    try:
        _run(command_line(account, "initdb", *place, *text, *doors, "--no-instructions", "--no-sync"), draft)
        _run(command_line(account, "postgres", "--single", *place, "postgres"), draft, text_in=create)
        draft.rename(data)
    finally:
        shutil.rmtree(draft, ignore_errors=True)  # After a failure: the disk may be full.


def _run(command: Sequence[str], folder: Path, text_in: str = "") -> None:
    done = subprocess.run(command, cwd=folder, input=text_in, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EmbeddedPostgresError(f"PostgreSQL could not be initialised in {folder}: {_reason(done.stderr)}")


def _restrict_connections(data: Path, port: LoginPort | None) -> None:
    """Write pg_hba.conf and pg_ident.conf: only the account of this process may connect, even where the server itself
    runs as `nobody`, and the role of the port. Written at each start, because homes of earlier versions trusted all
    local accounts."""
    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise EmbeddedPostgresError(
            f"The account {os.geteuid()} has no name on this machine, which PostgreSQL's peer authentication needs."
        ) from None
    database_lines = [f"local {database} all peer map=owner" for database in ("all", "replication")]
    port_lines = [f"host {DATABASE} {port.role} 127.0.0.1/32 scram-sha-256"] if port else []
    _replace(data / "pg_hba.conf", [_WRITTEN_HERE, *database_lines, *port_lines], data)
    _replace(data / "pg_ident.conf", [_WRITTEN_HERE, f'owner "{name}" all'], data)


def _replace(file: Path, lines: list[str], data: Path) -> None:
    """Atomically. The folder may belong to another account, so no symbolic link in it is followed."""
    draft = file.with_name(f"{file.name}.new")
    draft.unlink(missing_ok=True)
    owner = data.stat()
    with open(draft, "x", opener=for_owner_only) as new:
        os.fchown(new.fileno(), owner.st_uid, owner.st_gid)
        new.writelines(f"{line}\n" for line in lines)
    draft.replace(file)


def _make_socket_folder(folder: Path, data: Path) -> None:
    if folder == data:
        return
    owner = data.stat()
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        os.chown(folder, owner.st_uid, owner.st_gid)
    found = folder.lstat()
    if found.st_uid != owner.st_uid or found.st_mode & 0o077:
        raise EmbeddedPostgresError(
            f"{folder} belongs to another account; PostgreSQL's socket cannot be kept safe there."
        )


def _remove_socket_folder(folder: Path, data: Path) -> None:
    if folder != data:
        shutil.rmtree(folder, ignore_errors=True)  # A killed server leaves its socket.


def _is_ready(data: Path) -> bool:
    """The eighth line of `postmaster.pid` is the server's state."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[7].strip() == "ready"


def _reason(log: str) -> str:
    """The message of the last fatal error in the output of PostgreSQL's programs, or its last lines."""
    for fatal in (_PANIC, "FATAL:  ", "error: "):
        if fatal in log:
            reason = log.rpartition(fatal)[2].partition("\n")[0]
            return f"{reason}. {_ABOUT_SPACE}" if reason.endswith(_NO_SPACE) else reason
    return " / ".join(log.splitlines()[-3:]) or "its log is empty."


if __name__ == "__main__":
    sys.exit(main())
