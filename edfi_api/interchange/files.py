"""The interchange files that an operator means by naming files and folders."""

from collections.abc import Iterable
from pathlib import Path

from edfi_api.interchange.exceptions import NoSuchPath, NothingFound


def interchange_files(paths: Iterable[Path]) -> list[Path]:
    """Files as named, folders as the `.xml` files in and below them by name; each file once.

    Raises NoSuchPath, or NothingFound if there is no file at all.
    """
    paths = list(paths)
    found: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise NoSuchPath(path)
        found |= dict.fromkeys(_xml_files_below(path) if path.is_dir() else [path])
    if not found:
        raise NothingFound(paths)
    return list(found)


def _xml_files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".xml" and path.is_file())
