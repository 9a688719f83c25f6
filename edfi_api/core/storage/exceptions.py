"""Exceptions about stored documents. They carry facts; status and texts for clients are in
`problem_details.catalog`."""

from dataclasses import dataclass
from uuid import UUID

from edfi_api.core.documents.violations import Violation
from edfi_api.model.surface.resource import Resource


@dataclass
class KeyChangeNotSupported(Exception):
    """An update would change the identity of a document of a resource that does not allow it."""

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

    `natural_key`, `row` and `resource` are those of the referrer; `natural_key` is empty if the caller may not read it.
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
    """A document to restore still exists, or has been restored already."""

    document_uuid: UUID


class VersionHasChanged(Exception):
    """The client expected another version of the document than the current one."""


class NothingToMatch(Exception):
    """The client expected a version of a document that does not exist."""


class MatchingVersionExists(Exception):
    """The client's condition was that there is no document, or none of these versions."""


@dataclass
class NotChecked(Exception):
    """A custom rule, `rule`, could not check what was to be written; nothing was."""

    rule: str
