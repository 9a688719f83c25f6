"""Homes for servers of tests: with PostgreSQL's data folder and a prepared database, made once and copied."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]


def make_prepared_home(folder: Path) -> Path:
    """The home below the folder, which several processes of one test run share; the first of them makes it."""
    home = folder / "prepared_home"
    with (folder / "prepared_home.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            unfinished = folder / "unfinished_home"
            prepare = [sys.executable, "-m", "meadowlark.prepare"]
            subprocess.run(
                [sys.executable, "-m", "meadowlark.embedded_postgres", "--home", unfinished, "--", *prepare],
                cwd=TOP,
                env=os.environ | {"MEADOWLARK_HOME": str(unfinished)},
                check=True,
            )
            unfinished.rename(home)
    return home


def copy_home(home: Path, destination: Path) -> Path:
    """With the owners of its files, since PostgreSQL may run under an account of its own."""
    subprocess.run(["cp", "-a", home, destination], check=True)
    return destination
