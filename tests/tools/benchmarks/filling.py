"""Fills a database with a `district` for a benchmark, which verifies it at its end."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_TOP = Path(__file__).parents[3]


def fill(database_url: str, home: Path, size: int) -> None:
    """Exits with status 1 and the output of `tests.tools.benchmarks.data` if that fails."""
    done = _run(database_url, home, "-m", "tests.tools.benchmarks.data", "--size", str(size), "--unverified")
    if done.returncode:
        sys.exit(f"The database was not filled: {done.stderr}")


def create_indexes(database_url: str, home: Path, definitions: Iterable[str]) -> None:
    """The indexes of `create_query_index`. Exits with status 1 and its output if that fails."""
    for definition in definitions:
        done = _run(database_url, home, "manage.py", "create_query_index", definition)
        if done.returncode:
            sys.exit(f"There is no index {definition}: {done.stderr}")


def _run(database_url: str, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"DATABASE_URL": database_url, "MEADOWLARK_HOME": str(home)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=_TOP, env=environment, check=False, capture_output=True, text=True
    )
