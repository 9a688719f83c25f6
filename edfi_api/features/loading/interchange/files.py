"""The interchange files at the paths of a command's arguments."""

from collections.abc import Iterable
from pathlib import Path

from edfi_api.features.loading.files import files_at
from edfi_api.features.loading.interchange.exceptions import NothingFound


def interchange_files(paths: Iterable[Path]) -> list[Path]:
    """The named files, and the `.xml` files in and below named folders, sorted by name; each file once.

    Raises NoSuchPath, or NothingFound if there is no file at all.
    """
    paths = list(paths)
    found = dict.fromkeys(file for path in paths for file in files_at(path, _is_xml))
    if not found:
        raise NothingFound(paths)
    return list(found)


def _is_xml(name: str) -> bool:
    return name.lower().endswith(".xml")
