"""Fills a database with a `district` for a benchmark, which verifies it at its end."""

import os
import subprocess
import sys
from pathlib import Path

_TOP = Path(__file__).parents[2]


def fill(database_url: str, home: Path, size: int) -> None:
    """Exits with status 1 and the output of `tests.benchmarks.data` if that fails."""
    environment = os.environ | {"DATABASE_URL": database_url, "MEADOWLARK_HOME": str(home)}
    command = [sys.executable, "-m", "tests.benchmarks.data", "--size", str(size), "--unverified"]
    done = subprocess.run(command, cwd=_TOP, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"The database was not filled: {done.stderr}")
