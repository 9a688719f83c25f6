"""Homes for servers of tests: a data folder of PostgreSQL with a prepared database and a client, made once, copied."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]
_CREDENTIALS = "client.json"


def make_prepared_home(folder: Path) -> Path:
    """The home below the folder, which several processes of one test run share; the first of them makes it."""
    home = folder / "prepared_home"
    with (folder / "prepared_home.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            unfinished = folder / "unfinished_home"
            prepare = [sys.executable, "-m", "meadowlark.prepare", "--demo-client", "tests", "EdFiSandbox"]
            made = subprocess.run(
                [sys.executable, "-m", "meadowlark.run.embedded_postgres", "--home", unfinished, "--", *prepare],
                cwd=TOP,
                env=os.environ | {"MEADOWLARK_HOME": str(unfinished)},
                check=True,
                stdout=subprocess.PIPE,
            )
            (unfinished / _CREDENTIALS).write_bytes(made.stdout)
            # A kill of processes loses nothing that is only in the memory of the machine.
            with (unfinished / "postgres/postgresql.conf").open("a") as settings:
                settings.write("fsync = off\n")
            unfinished.rename(home)
    return home


def copy_home(home: Path, destination: Path) -> Path:
    """Copy a home with the owners of its files, since PostgreSQL may run under an account of its own."""
    subprocess.run(["cp", "-a", home, destination], check=True)
    return destination


def client_of_home(home: Path) -> dict[str, str]:
    """Name, key and secret of the client "tests", which may do everything."""
    client: dict[str, str] = json.loads((home / _CREDENTIALS).read_text())["client"]
    return client
