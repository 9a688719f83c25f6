"""Restores deleted documents under their former ids, through the store, which checks references and keys again."""

from functools import partial
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from edfi_api.changes.change_queries.exceptions import CannotRestore
from edfi_api.changes.change_queries.models import DeletedDocument
from edfi_api.documents.exceptions import DataValidationFailed
from edfi_api.documents.incoming import IncomingDocument, Preparers
from edfi_api.model.surface.resource import ResourceName
from edfi_api.problem_details.catalog import SYSTEM_ERROR, problem_of
from edfi_api.startup import current_surface
from edfi_api.storage import descriptor_casing, store
from edfi_api.storage.exceptions import DocumentExists, IdentityConflict
from edfi_api.storage.requests import WriteRequest
from edfi_api.storage.stored import Written
from references.exceptions import UnresolvedReference

REFUSALS = (DataValidationFailed, IdentityConflict, UnresolvedReference)


def restore(document_uuid: UUID, using: str = DEFAULT_DB_ALIAS) -> Written:
    """Insert the document as it was when it was last deleted. Raises CannotRestore with all reasons.

    In the change stream it is an insert without a client; the document keeps its original creator.
    """
    deleted = _last_delete(document_uuid, using)
    try:
        incoming = _incoming(deleted, using)
        request = WriteRequest(incoming, using=using)
        return store.restore(request, document_uuid, deleted.created_by, deleted.created_at)
    except DocumentExists as error:
        raise CannotRestore([f"{deleted.natural_key} is there."]) from error
    except REFUSALS as refusal:
        raise CannotRestore(reasons_of(refusal)) from refusal


def _last_delete(document_uuid: UUID, using: str) -> DeletedDocument:
    deletes = DeletedDocument.objects.using(using).filter(document_uuid=document_uuid)
    deleted = deletes.select_related("resource_type").order_by("-change_version").first()
    if deleted is None:
        raise CannotRestore([f"No deleted document has the id {document_uuid}."])
    return deleted


def _incoming(deleted: DeletedDocument, using: str) -> IncomingDocument:
    """The body, prepared by the rules of the current data standard."""
    if deleted.body is None:
        raise CannotRestore([f"The body of {deleted.natural_key}, deleted {deleted.deleted_at:%Y-%m-%d}, was purged."])
    surface, type_ = current_surface(), deleted.resource_type
    name = ResourceName(type_.project, type_.name)
    if name not in surface.by_name:
        raise CannotRestore([f"{type_} is not part of the standard that is served."])
    return Preparers(surface)[name].prepare(deleted.body, partial(descriptor_casing.stored_uris, using=using))


def reasons_of(refusal: Exception) -> list[str]:
    """The reasons in the texts of the API's problem details."""
    problem = problem_of(refusal) or SYSTEM_ERROR
    found = [
        f"{path}: {message}" for path, messages in (problem.validation_errors or {}).items() for message in messages
    ]
    return [*found, *problem.errors] or [problem.detail]
