"""What ends a command about JSON Lines, as the one line that its user reads."""

from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from django.core.management.base import CommandError

from edfi_api.common.logs.printable import printable
from edfi_api.features.loading import command_errors
from edfi_api.features.loading.json_lines.exceptions import NoLinesFound, PyArrowMissing, ResourceNotServed


@contextmanager
def as_command_errors() -> Iterator[None]:
    """Translate what stops a load or an export as a whole into CommandError."""
    try:
        with command_errors.as_command_errors(), _as_command_error_of_the_pipe():
            yield
    except NoLinesFound as error:
        raise CommandError(f"no .jsonl or .csv file in {', '.join(map(printable, error.paths))}") from error
    except ResourceNotServed as error:
        raise CommandError(f"the API offers no {error.name}") from error
    except PyArrowMissing as error:
        raise CommandError(
            "Parquet needs pyarrow, which is not installed: pip install -r requirements/parquet.lock"
        ) from error
    except BrokenProcessPool as error:
        raise CommandError("a process that prepared documents has died; was there too little memory?") from error


@contextmanager
def _as_command_error_of_the_pipe() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise CommandError("the reader of standard output has ended") from error
