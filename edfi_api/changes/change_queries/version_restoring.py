"""Restores an older version of a document through the store, which checks references and keys again."""

from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from edfi_api.changes.change_queries import history
from edfi_api.changes.change_queries.exceptions import CannotRestore
from edfi_api.changes.change_queries.restoring import REFUSALS, reasons_of
from edfi_api.documents.incoming import IncomingDocument, Preparers
from edfi_api.model.surface.resource import Resource
from edfi_api.startup import current_surface
from edfi_api.storage import descriptor_casing, store
from edfi_api.storage.exceptions import DocumentExists, DocumentNotFound, KeyChangeContradicts, KeyChangeNotSupported
from edfi_api.storage.requests import WriteRequest
from edfi_api.storage.stored import Written

_REFUSALS = (*REFUSALS, DocumentExists, DocumentNotFound, KeyChangeContradicts, KeyChangeNotSupported)


def restore_version(
    resource: Resource, document_uuid: UUID, change_version: int, using: str = DEFAULT_DB_ALIAS
) -> Written:
    """Write the body of a version again, as an update, or as an insert with the former id if the document was deleted.

    Raises CannotRestore with all reasons.
    """
    found = history.versions(resource, document_uuid, 1, change_version + 1, using=using)
    if not found or found[0].change_version != change_version or found[0].text is None:
        raise CannotRestore([f"Version {change_version} is not kept."])
    [newest] = history.versions(resource, document_uuid, 1, using=using)
    preparers = Preparers(current_surface())
    try:
        request = WriteRequest(_incoming(preparers, resource, found[0].body, using), using=using)
        if newest.operation == history.DELETE:
            created_at = datetime.fromisoformat((newest.columns or {})["created_at"])
            return store.restore(request, document_uuid, newest.created_by, created_at)
        return store.update(request, document_uuid, preparers)
    except _REFUSALS as refusal:
        raise CannotRestore(reasons_of(refusal)) from refusal


def _incoming(preparers: Preparers, resource: Resource, body: dict[str, Any], using: str) -> IncomingDocument:
    return preparers[resource.name].prepare(body, partial(descriptor_casing.stored_uris, using=using))
