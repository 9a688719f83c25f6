"""What ends a load as a whole, as the one line that its user reads."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from edfi_api.common.logs.printable import printable
from edfi_api.features.loading.exceptions import NoSuchPath, StoppedAtRefusal


@contextmanager
def as_command_errors() -> Iterator[None]:
    """Raise CommandError in place of the errors that stop a load as a whole, whatever it reads."""
    try:
        yield
    except NoSuchPath as error:
        raise CommandError(f"{printable(error.path)} does not exist") from error
    except StoppedAtRefusal as error:
        raise CommandError(f"stopped at the first refusal: {error.refusal}") from error
    except sqlite3.Error as error:
        raise CommandError(
            f"the temporary database that documents wait in, in the folder of TMPDIR, failed: {error}"
        ) from error
    except OSError as error:
        raise CommandError(f"{printable(error.filename)}: {error.strerror}") from error
