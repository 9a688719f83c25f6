"""The files that an operator means by naming files and folders, and what is said of one that cannot be used."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from edfi_api.interchange.exceptions import NoSuchPath, NothingFound


def interchange_files(paths: Iterable[Path]) -> list[Path]:
    """Files as named, folders as the `.xml` files in and below them by name; each file once.

    Raises NoSuchPath, or NothingFound if there is no file at all.
    """
    paths = list(paths)
    found = dict.fromkeys(file for path in paths for file in files_at(path, _is_xml))
    if not found:
        raise NothingFound(paths)
    return list(found)


def files_at(path: Path, is_wanted: Callable[[str], object]) -> list[Path]:
    """The file itself, whatever its name; of a folder those in and below it whose names are wanted, sorted.

    Raises NoSuchPath, or OSError if a folder may not be looked into: what is in it would be missed in silence.
    """
    if path.is_dir():
        return sorted(
            Path(folder, name)
            for folder, _, names in os.walk(path, onerror=_raise)
            for name in names
            if is_wanted(name)
        )
    if not path.exists():
        raise NoSuchPath(path)
    return [path]


@contextmanager
def named_in_errors(file: object) -> Iterator[None]:
    """An OSError about this file says so: those of reading and writing have no name of their own."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(file)
        raise


def _is_xml(name: str) -> bool:
    return name.lower().endswith(".xml")


def _raise(error: OSError) -> NoReturn:
    raise error
