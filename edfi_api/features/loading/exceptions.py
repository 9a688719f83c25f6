"""What can be wrong with files of documents: interchanges in XML, and JSON Lines."""

from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
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


@dataclass
class ResourceNotServed(Exception):
    """The operator named a resource that the API does not offer."""

    name: str


@dataclass
class UnreadableFile(Exception):
    """The file cannot be read any further than this line."""

    line: int
    reason: str


@dataclass
class UnreadableLine(Exception):
    """A line that does not say what it is a document of; the next one may be fine."""

    reason: str


@dataclass
class NamesNoResource(UnreadableLine):
    """A line of JSON without a resource and its body."""


@dataclass
class NoLinesFound(Exception):
    """There is no file of JSON Lines at any of these paths."""

    paths: Sequence[str]


class PyArrowMissing(Exception):
    """Parquet is requested, and the library that writes it is not installed."""


ERRORS_OF_INTERCHANGE_FILES: ErrorTexts = {
    **ERRORS_OF_LOADS,
    NothingFound: lambda error: f"no XML file in {', '.join(map(printable, error.paths))}",
}
ERRORS_OF_JSON_LINES: ErrorTexts = {
    **ERRORS_OF_LOADS,
    NoLinesFound: lambda error: f"no .jsonl or .csv file in {', '.join(map(printable, error.paths))}",
    ResourceNotServed: lambda error: f"the API offers no {error.name}",
    PyArrowMissing: lambda _: "Parquet needs pyarrow, which is not installed: pip install -r requirements/parquet.lock",
    BrokenProcessPool: lambda _: "a process that prepared documents has died; was there too little memory?",
    BrokenPipeError: lambda _: "the reader of standard output has ended",
}
