"""Errors between a file and a document, with the facts and the line of the text."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from edfi_api.common.commands import ErrorTexts
from edfi_api.common.logs.printable import printable
from edfi_api.features.loading.files import ERRORS_OF_LOADS


@dataclass
class NothingFound(Exception):
    """There is no interchange file at any of these paths."""

    paths: Iterable[Path]


@dataclass
class UnreadableInterchange(Exception):
    """The file cannot be read any further: it is not XML, not an interchange, or cannot be opened."""

    line: int
    reason: str


@dataclass
class UnreadableDocument(Exception):
    """One document of a file cannot be interpreted; reading continues. `line` is that of the first problem."""

    line: int
    reason: str


@dataclass
class UnknownElement(UnreadableDocument):
    """The document is of an unknown resource. `name` is its element."""

    name: str


class NeedsLookUp(Exception):
    """A document has a look-up, and those are not to be resolved yet."""


ERRORS_OF_INTERCHANGE_FILES: ErrorTexts = {
    **ERRORS_OF_LOADS,
    NothingFound: lambda error: f"no XML file in {', '.join(map(printable, error.paths))}",
}
