"""Every benchmark ends with `manage.py verify_integrity`: figures measured on wrong data are not reported."""

import os
import subprocess
import sys
from pathlib import Path

from django.core.management import CommandError, call_command

_TOP = Path(__file__).parents[2]
_WRONG_DATA = "The data is wrong, and so is what was measured with it."


def verify(database_url: str, home: Path) -> None:
    """In a subprocess. Exits with status 1 if rows and bodies disagree."""
    environment = os.environ | {"DATABASE_URL": database_url, "MEADOWLARK_HOME": str(home)}
    if subprocess.run(
        [sys.executable, "manage.py", "verify_integrity"], cwd=_TOP, env=environment, check=False
    ).returncode:
        sys.exit(_WRONG_DATA)


def verify_here() -> None:
    """The same for the database that Django uses in this process."""
    try:
        call_command("verify_integrity")
    except CommandError as error:
        sys.exit(f"{error}\n{_WRONG_DATA}")
