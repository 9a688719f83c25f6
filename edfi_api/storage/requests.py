"""What is requested of the store: a document to write or to delete, for whom, and under which conditions."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from edfi_api.documents.incoming import IncomingDocument
from edfi_api.model.surface.resource import Resource
from edfi_api.storage import resource_types
from edfi_api.storage.conditions import UNCONDITIONAL, WriteCondition
from edfi_api.storage.row_policy import MayRead, RowPolicy

# The values of a statement's parameters.
Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """For whom, and under which conditions, something is written.

    `client` is the row id of the API client, None for the server itself. `may_read` limits which other documents an
    error names. `using` is the data store.
    """

    client: int | None = None
    condition: WriteCondition = UNCONDITIONAL
    policy: RowPolicy | None = None
    may_read: MayRead | None = None
    using: str


@dataclass(frozen=True, slots=True)
class WriteRequest(Terms):
    """A document to insert or to replace."""

    incoming: IncomingDocument

    def values(self, document_uuid: UUID) -> Values:
        """The parameters of the statements that write the document; `document_uuid` is the id it has or gets."""
        incoming = self.incoming
        return {
            **stored_key(incoming.resource, document_uuid, self.using),
            "client": self.client,
            "referential_id": incoming.identity.referential_id,
            "natural_key": incoming.identity.natural_key,
            "aliases": incoming.identity.aliases,
            "targets": incoming.targets,
            "linked": incoming.linked,
            "body": incoming.text.decode(),
            **incoming.securables._asdict(),
        }


@dataclass(frozen=True, slots=True)
class DeleteRequest(Terms):
    """A document to delete. `user` is the name of the admin's user, for a delete in the admin."""

    resource: Resource
    document_uuid: UUID
    user: str | None = None

    def values(self) -> Values:
        """The parameters of the statements that find and delete the document."""
        key = stored_key(self.resource, self.document_uuid, self.using)
        return {**key, "client": self.client, "user": self.user}


def stored_key(resource: Resource, document_uuid: UUID, using: str) -> Values:
    """The parameters by which a stored document is found."""
    return {"document_uuid": document_uuid, "resource_type": resource_types.numbers(using)[resource.name]}
