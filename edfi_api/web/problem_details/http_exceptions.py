"""Exceptions about HTTP requests. They carry facts; the texts for clients are in `problem_details.catalog`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


class ResourceNotFound(Exception):
    """The path has an unknown project, endpoint or segment, or the document does not exist."""


@dataclass
class InvalidDocumentId(Exception):
    """The last path segment is not a UUID."""

    segment: str


@dataclass
class MethodNotAllowed(Exception):
    """The method is not supported by a collection (False), an item (True), or another route (None)."""

    method: str
    is_item: bool | None
    allowed: list[str] = field(default_factory=list)


class UnsupportedMediaType(Exception):
    """The media type of the body is not JSON."""


@dataclass
class BodyTooLarge(Exception):
    """The body exceeds `limit` bytes."""

    limit: int


@dataclass
class BatchTooLarge(Exception):
    """A batch exceeds a limit; `setting` is its name in the settings."""

    setting: str
    limit: int


class TooManyBatches(Exception):
    """This process executes as many batches as it may."""


class BatchTimeout(Exception):
    """The time of a batch is over."""


@dataclass
class BatchFailed(Exception):
    """An atomic batch was not written. `failed` are the results of the first operations that failed, of `count`."""

    failed: Sequence[dict[str, Any]]
    count: int
    is_temporary: bool


@dataclass
class MalformedOperations(Exception):
    """An atomic batch has operations that cannot be read; the reason of each by its position."""

    by_position: dict[int, Exception]
