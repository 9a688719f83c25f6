"""Every benchmark ends with `manage.py verify_integrity`, since figures measured on wrong data are not reported, and
with the build of the interpreter, without which they cannot be compared."""

import os
import subprocess
import sys
from pathlib import Path

from django.core.management import CommandError, call_command

from meadowlark import interpreter

_TOP = Path(__file__).parents[3]
_WRONG_DATA = "The data is wrong, and so is what was measured with it."


def verify(database_url: str, home: Path, top: Path = _TOP, python: str = sys.executable) -> None:
    """Verify in a subprocess of this source tree and interpreter. Exits with status 1 if rows and bodies disagree;
    prints the build of the interpreter.
    """
    subprocess.run([python, interpreter.__file__, "--build"], check=True)
    environment = os.environ | {"DATABASE_URL": database_url, "MEADOWLARK_HOME": str(home)}
    if subprocess.run([python, "manage.py", "verify_integrity"], cwd=top, env=environment, check=False).returncode:
        sys.exit(_WRONG_DATA)


def verify_here() -> None:
    """Verify the database that Django uses in this process."""
    print(f"Interpreter: {interpreter.build()}")
    try:
        call_command("verify_integrity")
    except CommandError as error:
        sys.exit(f"{error}\n{_WRONG_DATA}")
