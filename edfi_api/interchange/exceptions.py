"""What can go wrong between a file and a document: facts about the text, with the line they stand in."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass
class NoSuchPath(Exception):
    """A path that the operator named does not exist."""

    path: Path


@dataclass
class NothingFound(Exception):
    """There is no interchange file at any of these paths."""

    paths: Iterable[Path]


@dataclass
class UnreadableFile(Exception):
    """The file cannot be read any further: it is not XML, no interchange, or may not be opened."""

    line: int
    reason: str


@dataclass
class UnreadableDocument(Exception):
    """One document of a file cannot be understood; the next one may be fine. `line` is that of the first problem."""

    line: int
    reason: str


@dataclass
class UnknownElement(UnreadableDocument):
    """The document is one of a resource that there is not. `name` is its element."""

    name: str


@dataclass
class StoppedAtRefusal(Exception):
    """The operator wants no document without the others: the first refusal ended the load."""

    refusal: str
