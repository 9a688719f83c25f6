"""Hands prepared documents to the store: whole ones, and parts that are merged with what is stored."""

from uuid import UUID

from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.api.viewsets.headers import write_condition
from edfi_api.documents.incoming import IncomingDocument, PendingDocument, Preparers
from edfi_api.security.authorization import Authorization
from edfi_api.storage import merges, store
from edfi_api.storage.requests import MergeRequest, WriteRequest
from edfi_api.storage.stored import Written


def write_request(
    prepared: IncomingDocument | PendingDocument, request: EdFiRequest, allowed: Authorization, using: str
) -> WriteRequest | MergeRequest:
    """What is requested of the store."""
    facts = (request.user.row_id, write_condition(request), allowed.policy, allowed.may_read)
    if isinstance(prepared, PendingDocument):
        return MergeRequest(prepared, *facts, using=using)
    return WriteRequest(prepared, *facts, using=using)


def upsert(write: WriteRequest | MergeRequest) -> Written:
    """Insert the document, or replace the one with its natural key. Raises what `store.upsert` and a merge do."""
    return merges.upsert(write) if isinstance(write, MergeRequest) else store.upsert(write)


def update(write: WriteRequest | MergeRequest, document_uuid: UUID, preparers: Preparers) -> Written:
    """Replace the document with this id. Raises what `store.update` and a merge do."""
    if isinstance(write, MergeRequest):
        return merges.update(write, document_uuid, preparers)
    return store.update(write, document_uuid, preparers)
