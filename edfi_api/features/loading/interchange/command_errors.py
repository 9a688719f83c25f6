"""What ends a command about interchange files, as the one line that its user reads."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from edfi_api.common.logs.printable import printable
from edfi_api.features.loading import command_errors
from edfi_api.features.loading.interchange.exceptions import NothingFound


@contextmanager
def as_command_errors() -> Iterator[None]:
    """Raise CommandError in place of the errors that stop a load as a whole."""
    try:
        with command_errors.as_command_errors():
            yield
    except NothingFound as error:
        raise CommandError(f"no XML file in {', '.join(map(printable, error.paths))}") from error
