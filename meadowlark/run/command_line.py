"""Django's command line, with one line instead of a traceback for errors other than bugs; `--traceback` shows it."""

import os
import signal
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management import ManagementUtility
from django.core.management.base import BaseCommand, CommandParser
from django.db import InterfaceError, InternalError, NotSupportedError, OperationalError, ProgrammingError
from psycopg import errors

from edfi_api.model.apischema.format import ApiSchemaError
from edfi_api.model.metaed.errors import ModelErrors
from meadowlark.run.postgres_programs import EmbeddedPostgresError, binaries
from meadowlark.serving.process import pause_garbage_collection, resume_garbage_collection

# Errors of statements in a database that has not been migrated, or not by this version.
_NOT_MIGRATED = (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction)
_DJANGO_COMMANDS = "django.core.management.commands."


def main() -> None:
    """Run the command of `sys.argv`."""
    pause_garbage_collection()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    _print_any_name()
    if sys.argv[1:2] == ["dbshell"]:
        _offer_psql()
    try:
        _CommandLine(sys.argv).execute()
    except (Exception, KeyboardInterrupt) as error:
        reason = _reason(error)
        if reason is None or "--traceback" in sys.argv:
            raise
        sys.stderr.write(f"{reason}\n")
        sys.exit(128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1)


class _CommandLine(ManagementUtility):
    """Prints only the line that names a wrong option. argparse prints the usage before it, which fills a screen for a
    command with many options; `--help` still prints it.

    Of the commands only Django's, and those derived from them, make system checks (`check`, `migrate`, `runserver`):
    they build the whole API, which takes longer than most commands.
    """

    def fetch_command(self, subcommand: str) -> BaseCommand:
        try:
            command = super().fetch_command(subcommand)
        finally:
            resume_garbage_collection()
        if not any(each.__module__.startswith(_DJANGO_COMMANDS) for each in type(command).__mro__):
            command.requires_system_checks = ()
        create_parser = command.create_parser

        def create_parser_without_usage(*args: Any, **options: Any) -> CommandParser:
            parser = create_parser(*args, **options)
            for each in (parser, *_parsers_within(parser)):
                each.print_usage = lambda file=None: None  # type: ignore[method-assign]
            return parser

        command.create_parser = create_parser_without_usage  # type: ignore[method-assign]
        return command


def _parsers_within(parser: ArgumentParser) -> Iterator[ArgumentParser]:
    """Yield the parsers of the words that say what a command does."""
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            yield from action.choices.values()


def _offer_psql() -> None:
    """The psql of the embedded PostgreSQL, where the machine has no other."""
    with suppress(EmbeddedPostgresError):
        os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), str(binaries())])


def _print_any_name() -> None:
    """Escape on output what the terminal's encoding lacks: file names and other arguments may have any bytes."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _reason(error: BaseException) -> str | None:
    """One line for the operator; None for a bug."""
    reason: str | None = None
    match error:
        case KeyboardInterrupt():
            reason = "Stopped. The command may be run again."
        case ModelErrors() | ApiSchemaError() | ImproperlyConfigured():
            reason = str(error)  # Django's checks before almost every command import the URL map, hence the model.
        case OperationalError() | InterfaceError() | NotSupportedError():
            reason = f"The database cannot be used: {error}"
        case InternalError(__cause__=errors.ReadOnlySqlTransaction()):
            reason = f"The database takes no writes: {error}"
        case ProgrammingError(__cause__=errors.InsufficientPrivilege()):
            reason = f"The database does not allow it: {error}"
        case ProgrammingError(__cause__=cause) if isinstance(cause, _NOT_MIGRATED):
            missing = str(error).partition("\n")[0]
            reason = f"The database lacks what this version needs: {missing}. Has `manage.py migrate` been run?"
        case ModuleNotFoundError(name=name) if name and name == os.environ["DJANGO_SETTINGS_MODULE"]:
            reason = f"There is no settings module {name!r}."
        case OSError(filename=str() as name):
            reason = f"{name!r}: {error.strerror}"
        case LookupError() if type(error) is LookupError:
            reason = str(error)  # An unknown app label. Bugs raise the subclasses KeyError and IndexError.
    return reason.strip() if reason else None


if __name__ == "__main__":
    main()
