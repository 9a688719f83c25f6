"""The base of commands: an error that a command names, with its text, ends it with that text instead of a traceback."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError

# The text of an error, by its class. An error whose class is not named has that of its nearest ancestor.
ErrorTexts = Mapping[type[Exception], Callable[[Any], str]]


class ReportingCommand(BaseCommand):
    """A command that reports the errors of `error_texts`."""

    error_texts: ErrorTexts = {}

    def execute(self, *args: Any, **options: Any) -> str | None:
        with self.reporting_errors():
            return super().execute(*args, **options)

    @contextmanager
    def reporting_errors(self) -> Iterator[None]:
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
