"""What a document can be refused for: facts, no HTTP. The wording of problems stands in `problem_details.catalog`."""

from dataclasses import dataclass
from uuid import UUID

from django.db import InterfaceError, OperationalError
from psycopg.errors import ReadOnlySqlTransaction

from edfi_api.documents.violations import Violation
from edfi_api.surface.resource import Resource


class EmptyBody(Exception):
    """A body is needed and none came."""


@dataclass
class MalformedJson(Exception):
    """The body is not a JSON object; `reason` says where the parser stopped."""

    reason: str


@dataclass
class DocumentTooLarge(Exception):
    """The body has more than `most` values, or references: `counted` says which."""

    counted: str
    most: int


@dataclass
class DuplicateProperty(Exception):
    """One object of the body has a property twice; the paths of all that are repeated."""

    paths: list[str]


@dataclass
class DataValidationFailed(Exception):
    """The body breaks the rules of its resource; all violations that could be found, in body order, or of very many
    the first."""

    violations: list[Violation]


class ClientAssignedId(Exception):
    """A new document came with an `id`, which only the server may give."""


class IdMismatch(Exception):
    """The `id` in the body is not the one in the URL."""


@dataclass
class KeyChangeNotSupported(Exception):
    """An update would change the identity of a document whose identity is fixed."""

    resource: Resource


@dataclass
class IdentityConflict(Exception):
    """Another document has this identity, in this resource or in another subclass of its superclass."""

    resource: Resource
    identity: list[tuple[str, str]]
    is_new: bool


@dataclass
class KeyChangeContradicts(Exception):
    """A document that refers to the changed one has other references, which do not agree with the new values.

    `natural_key` is empty for who may not know it.
    """

    resource: Resource
    natural_key: str
    row: int
    violations: list[Violation]


@dataclass
class DocumentNotFound(Exception):
    """No document of this resource has this id."""

    resource: Resource


@dataclass
class DocumentExists(Exception):
    """A document that was to be brought back has never gone, or is back already."""

    document_uuid: UUID


class VersionHasChanged(Exception):
    """The client expected another version of the document than the one that is there."""


class NothingToMatch(Exception):
    """The client expected a version of a document that is not there at all."""


class MatchingVersionExists(Exception):
    """The client wanted to write only if there is no document, or none of these versions."""


class TooMuchContention(Exception):
    """Other writers got in between at every attempt; nothing was written, trying later may help."""


def is_outage(error: BaseException) -> bool:
    """Whether the database could not do its work now, though it may later: it is away, full, starting, overcrowded, or
    reads only, as a standby does. Django's name for the last is that of PostgreSQL's bugs."""
    return isinstance(error, OperationalError | InterfaceError) or isinstance(error.__cause__, ReadOnlySqlTransaction)
