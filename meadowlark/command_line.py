"""Django's command line, where what is no bug is told in a line instead of a traceback; `--traceback` shows it all."""

import os
import signal
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import InterfaceError, OperationalError, ProgrammingError
from psycopg import errors

from edfi_api.apischema.errors import ApiSchemaError
from edfi_api.metaed import ModelErrors

# What statements meet in a database that has not been migrated, or not by this version.
_NOT_MIGRATED = (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction)


def main() -> None:
    """Run the command of `sys.argv`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    try:
        execute_from_command_line(sys.argv)
    except (Exception, KeyboardInterrupt) as error:
        reason = _reason(error)
        if reason is None or "--traceback" in sys.argv:
            raise
        sys.stderr.write(f"{reason}\n")
        sys.exit(128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1)


def _reason(error: BaseException) -> str | None:
    """None for a bug."""
    match error:
        case KeyboardInterrupt():
            return "Stopped. The command may be run again."
        case ModelErrors() | ApiSchemaError() | ImproperlyConfigured():
            return str(error)  # The URL map needs the model, and so do Django's checks before almost every command.
        case OperationalError() | InterfaceError():
            return f"The database cannot be used: {error}".strip()
        case ProgrammingError(__cause__=cause) if isinstance(cause, _NOT_MIGRATED):
            told = str(error).partition("\n")[0]
            return f"The database lacks what this version needs: {told}. Has `manage.py migrate` been run?"
    return None
