"""The base of commands: an error that a command names, with its text, ends it with that text instead of a traceback.

Commands about documents have the base of `core/data_stores/data_store_command.py` instead, which names a database.

The types of arguments raise ArgumentTypeError, to which argparse adds the name of the argument.
"""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.common.logs.printable import is_printable

# The text of an error, by its class. An error whose class is not named has that of its nearest ancestor.
ErrorTexts = Mapping[type[Exception], Callable[[Any], str]]


class ReportingCommand(BaseCommand):
    """A command that reports the errors of `error_texts`."""

    error_texts: ErrorTexts = {}

    def execute(self, *args: Any, **options: Any) -> str | None:
        with self.report_errors():
            return super().execute(*args, **options)

    @contextmanager
    def report_errors(self) -> Iterator[None]:
        """Raise CommandError in place of the errors that have a text."""
        try:
            yield
        except Exception as error:
            if (text := text_of(error, self.error_texts)) is None:
                raise
            raise CommandError(text) from error


def text_of(error: Exception, texts: ErrorTexts) -> str | None:
    """Return the text of an error, or None if it has none."""
    return next((texts[each](error) for each in type(error).__mro__ if each in texts), None)


_MOST_DAYS = 36_500


def text(given: str) -> str:
    """A text that is safe to print, for names and the like."""
    if not is_printable(given):
        raise ArgumentTypeError(f"{given!r} has characters that cannot be printed")
    return given


def not_empty(given: str) -> str:
    """Refuse an empty argument, often the result of an unset shell variable."""
    if not given:
        raise ArgumentTypeError("it is empty")
    return given


def name(given: str) -> str:
    """A text that is not empty."""
    return text(not_empty(given))


def path(given: str) -> Path:
    """A path; an empty one, which would be the current folder, is refused."""
    return Path(not_empty(given))


def integer(least: int, most: int) -> Callable[[str], int]:
    """Return a type of arguments: an integer from `least` to `most`, both included."""

    def convert(text: str) -> int:
        try:
            number = int(text)
        except ValueError as error:
            raise ArgumentTypeError(f"{text!r} is not a whole number") from error
        if not least <= number <= most:
            raise ArgumentTypeError(f"{text} is not between {least} and {most}")
        return number

    return convert


def seconds(text: str) -> float:
    """A number of seconds from 0 to a day."""
    try:
        number = float(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a number of seconds") from error
    if not 0 <= number <= _DAY:
        raise ArgumentTypeError(f"{text} is not between 0 and {_DAY} seconds")
    return number


def day(given: str) -> date:
    """A date, such as 2027-07-01."""
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise ArgumentTypeError(f"{given!r} is not a date such as 2027-07-01") from None


def timestamp(given: str) -> datetime:
    """A date, taken as midnight, or a date with a time; in UTC unless it has an offset."""
    try:
        read = datetime.fromisoformat(given)
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ArgumentTypeError(f"{given!r} is not a date such as 2027-07-01 or 2027-07-01T12:00") from None


def add_database(parser: ArgumentParser, help: str) -> None:
    """Add `--database`, one of the settings' databases, as in Django's own commands."""
    parser.add_argument("--database", default=DEFAULT_DB_ALIAS, choices=tuple(connections), help=help)


def add_retention(parser: ArgumentParser, kept: int) -> None:
    """Add `--days`, a retention time; `kept` is that of the settings."""
    parser.add_argument(
        "--days",
        type=integer(0, _MOST_DAYS),
        default=str(kept),  # A string, so that argparse validates the setting like the argument.
        help=f"the retention time in days (default {kept})",
    )


_DAY = 86_400
