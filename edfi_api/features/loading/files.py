"""The files at the paths of a command's arguments, errors that name the file, and the progress bar of their load.

The bar is shown on a terminal only, with the estimated time left. It counts the bytes of files, as they are known
before anything is read. What is kept on disk between reading and writing is counted twice: when it is read, and with
its share of the bytes when it is written.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path
from stat import S_ISDIR
from typing import Any, NoReturn

from tqdm import tqdm

from edfi_api.common.commands import ErrorTexts
from edfi_api.common.logs.printable import printable

SECONDS_BETWEEN = 0.1


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
def name_in_errors(file: object) -> Iterator[None]:
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


class LoadProgress:
    """The bar of one load."""

    def __init__(self, total: int) -> None:
        self._bar = tqdm(total=total or None, unit="B", unit_scale=True, mininterval=SECONDS_BETWEEN, disable=None)
        self._documents = 0

    def add_to_total(self, count: float) -> None:
        """Add what was not known at the beginning to the total, in bytes."""
        self._bar.total = (self._bar.total or 0) + count

    def describe(self, description: str) -> None:
        """Say what is being loaded, such as the name of a resource."""
        self._bar.set_description_str(description, refresh=False)

    def read(self, count: int) -> None:
        """Count so many bytes of a file that were read."""
        self._bar.update(count)

    def count_written(self, share: float = 0) -> None:
        """Count a document that has its result; `share` are the bytes that it stands for."""
        self._documents += 1
        self._bar.set_postfix_str(f"{self._documents:,} documents", refresh=False)
        self._bar.update(share)

    def close(self) -> None:
        self._bar.close()


@contextmanager
def show_progress(total: int) -> Iterator[LoadProgress]:
    """Show the bar of a load of files with this number of bytes."""
    progress = LoadProgress(total)
    try:
        yield progress
    finally:
        progress.close()


def size(path: Path) -> int:
    """The bytes of a file; 0 for one that cannot be found, which is reported when it is read."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def open_counted(path: Path, on_read: Callable[[int], None]) -> BufferedReader:
    """The file, opened for reading; `on_read` is called with the bytes of each part that is read from disk."""
    return BufferedReader(_Counted(path, on_read))


class _Counted(FileIO):
    def __init__(self, path: Path, on_read: Callable[[int], None]) -> None:
        super().__init__(path)
        self._on_read = on_read

    def readinto(self, buffer: Any, /) -> int | None:
        count = super().readinto(buffer)
        self._on_read(count or 0)
        return count
