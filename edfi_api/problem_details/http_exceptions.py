"""Exceptions about HTTP requests. They carry facts; the texts for clients are in `problem_details.catalog`."""

from dataclasses import dataclass, field


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
