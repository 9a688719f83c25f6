"""What is requested of the store: a document to write or to delete, for whom, and under which conditions."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from edfi_api.documents.incoming import IncomingDocument, PendingDocument
from edfi_api.model.surface.resource import Resource
from edfi_api.storage import resource_types
from edfi_api.storage.conditions import UNCONDITIONAL, WriteCondition
from edfi_api.storage.row_policy import MayRead, RowPolicy

# The values of a statement's parameters.
Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """A document to insert or to replace.

    `client` is the row id of the API client, None for the server itself. `may_read` limits which other documents an
    error names. `using` is the data store.
    """

    incoming: IncomingDocument
    client: int | None = None
    condition: WriteCondition = UNCONDITIONAL
    policy: RowPolicy | None = None
    may_read: MayRead | None = None
    using: str = field(kw_only=True)

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
class MergeRequest:
    """A document to insert or to replace that depends on the stored one; the rest is as in `WriteRequest`."""

    pending: PendingDocument
    client: int | None = None
    condition: WriteCondition = UNCONDITIONAL
    policy: RowPolicy | None = None
    may_read: MayRead | None = None
    using: str = field(kw_only=True)

    def write(self, stored: dict[str, Any] | None) -> WriteRequest:
        """The request to write what follows from the stored body, None for a new document. Raises what
        `PendingDocument.merged` does."""
        incoming = self.pending.merged(stored)
        facts = (self.client, self.condition, self.policy, self.may_read)
        return WriteRequest(incoming, *facts, using=self.using)

    def key(self, document_uuid: UUID) -> Values:
        """The parameters by which the stored document is found."""
        found = stored_key(self.pending.resource, document_uuid, self.using)
        return {**found, "referential_id": self.pending.identity.referential_id}


@dataclass(frozen=True, slots=True)
class DeleteRequest:
    """A document to delete. `user` is the name of the admin's user, for a delete in the admin; the rest is as in
    `WriteRequest`."""

    resource: Resource
    document_uuid: UUID
    client: int | None = None
    user: str | None = None
    condition: WriteCondition = UNCONDITIONAL
    policy: RowPolicy | None = None
    may_read: MayRead | None = None
    using: str = field(kw_only=True)

    def values(self) -> Values:
        """The parameters of the statements that find and delete the document."""
        key = stored_key(self.resource, self.document_uuid, self.using)
        return {**key, "client": self.client, "user": self.user}


def stored_key(resource: Resource, document_uuid: UUID, using: str) -> Values:
    """The parameters by which a stored document is found."""
    return {"document_uuid": document_uuid, "resource_type": resource_types.numbers(using)[resource.name]}
