"""The files at the paths of a command's arguments, and errors that name the file."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import NoReturn

from edfi_api.common.commands import ErrorTexts
from edfi_api.common.logs.printable import printable


def files_at(path: Path, is_wanted: Callable[[str], object]) -> list[Path]:
    """The file itself, whatever its name; for a folder, the wanted files in and below it, sorted.

    Raises NoSuchPath, or OSError for an unreadable folder, whose files would otherwise be skipped silently.
    """
    if _is_folder(path):
        return sorted(
            Path(folder, name)
            for folder, _, names in os.walk(path, onerror=_raise)
            for name in names
            if is_wanted(name)
        )
    return [path]


@contextmanager
def named_in_errors(file: object) -> Iterator[None]:
    """Add the file's name to an OSError: those of read and write have none."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(file)
        raise


def _is_folder(path: Path) -> bool:
    """Raises NoSuchPath, or PermissionError, which `Path.is_dir` does not since Python 3.14."""
    try:
        return S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise NoSuchPath(path) from None


def _raise(error: OSError) -> NoReturn:
    raise error


@dataclass
class NoSuchPath(Exception):
    """A path in the command's arguments does not exist."""

    path: Path


@dataclass
class StoppedAtRefusal(Exception):
    """The first refusal ended the load, because the command runs with `--strict`."""

    refusal: str


# Whatever a load reads.
ERRORS_OF_LOADS: ErrorTexts = {
    NoSuchPath: lambda error: f"{printable(error.path)} does not exist",
    StoppedAtRefusal: lambda error: f"stopped at the first refusal: {error.refusal}",
    sqlite3.Error: lambda error: (
        f"the temporary database that documents wait in, in the folder of TMPDIR, failed: {error}"
    ),
    OSError: lambda error: f"{printable(error.filename)}: {error.strerror}",
}
