"""Translates the errors that end a load as a whole into one-line command errors."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from edfi_api.loading.interchange.exceptions import NoSuchPath, NothingFound, StoppedAtRefusal
from edfi_api.logs.printable import printable


@contextmanager
def as_command_errors() -> Iterator[None]:
    """Raise CommandError in place of the errors that stop a load as a whole."""
    try:
        yield
    except NoSuchPath as error:
        raise CommandError(f"{printable(error.path)} does not exist") from error
    except NothingFound as error:
        raise CommandError(f"no XML file in {', '.join(map(printable, error.paths))}") from error
    except StoppedAtRefusal as error:
        raise CommandError(f"stopped at the first refusal: {error.refusal}") from error
    except sqlite3.Error as error:
        raise CommandError(
            f"the temporary database that documents wait in, in the folder of TMPDIR, failed: {error}"
        ) from error
    except OSError as error:
        raise CommandError(f"{printable(error.filename)}: {error.strerror}") from error
