"""What can be wrong with JSON Lines: facts about names, files and lines."""

from collections.abc import Sequence
from dataclasses import dataclass


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
