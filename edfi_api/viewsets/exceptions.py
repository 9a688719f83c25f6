"""What is wrong with a request before its body is understood: facts about HTTP, without wording."""

from dataclasses import dataclass, field


class ResourceNotFound(Exception):
    """The path names no project, endpoint, form of an item, or document that this server has."""


@dataclass
class InvalidDocumentId(Exception):
    """The last path segment is not a UUID."""

    segment: str


@dataclass
class MethodNotAllowed(Exception):
    """This method does not exist on a collection, on an item, or (None) on a route that is neither."""

    method: str
    is_item: bool | None
    allowed: list[str] = field(default_factory=list)


class UnsupportedMediaType(Exception):
    """The body is declared to be something else than JSON."""


class MalformedProfileMediaType(Exception):
    """A media type begins like those of API profiles but is none, or several different ones are accepted."""


@dataclass
class UnknownProfile(Exception):
    """A media type names an API profile that this server does not have; `header` is where it stands."""

    profile: str
    header: str


@dataclass
class BodyTooLarge(Exception):
    """The body has more bytes than the limit."""

    limit: int
