"""Restores deleted documents and older versions, through the store, which checks references and keys again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, transaction

from edfi_api.core.documents.document_validator import DocumentValidators, ValidatedDocument
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.served import current_surface
from edfi_api.core.storage import descriptor_uri_cache, store
from edfi_api.core.storage.exceptions import (
    DocumentExists,
    DocumentNotFound,
    IdentityConflict,
    KeyChangeContradicts,
    KeyChangeNotSupported,
)
from edfi_api.core.storage.stored import Outcome, Written
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.features.changes.change_queries import history
from edfi_api.features.changes.change_queries.models import DeletedDocument, Restoration
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.web.problem_details.catalog import SYSTEM_ERROR, problem_of
from references.exceptions import UnresolvedReference

_REFUSALS = (DataValidationFailed, IdentityConflict, UnresolvedReference)
_REFUSALS_OF_VERSIONS = (*_REFUSALS, DocumentExists, DocumentNotFound, KeyChangeContradicts, KeyChangeNotSupported)


@dataclass
class CannotRestore(Exception):
    """A deleted document cannot be restored; each reason is a sentence for operators."""

    reasons: list[str]

    def __str__(self) -> str:
        return " ".join(self.reasons)


def restore(document_uuid: UUID, using: str = DEFAULT_DB_ALIAS, username: str = "") -> Written:
    """Insert the document as it was when it was last deleted. Raises CannotRestore with all reasons.

    In the change stream it is an insert without a client; the document keeps its original creator. `username` is that
    of the admin's user, empty for a command.
    """
    deleted = _last_delete(document_uuid, using)
    try:
        validated = _validate_deleted(deleted, using)
        request = WriteRequest(validated, using=using)
        write = partial(store.restore, request, document_uuid, deleted.created_by, deleted.created_at)
        return _write_as(write, username, using)
    except DocumentExists as error:
        raise CannotRestore([f"{deleted.natural_key} is there."]) from error
    except _REFUSALS as refusal:
        raise CannotRestore(_reasons_of(refusal)) from refusal


def restore_version(
    resource: Resource, document_uuid: UUID, change_version: int, using: str = DEFAULT_DB_ALIAS, username: str = ""
) -> Written:
    """Write the body of a version again, as an update, or as an insert with the former id if the document was deleted.

    Raises CannotRestore with all reasons. `username` as for `restore`.
    """
    kept = kept_version(resource, document_uuid, change_version, using)
    [newest] = history.versions(resource, document_uuid, 1, using=using)
    validators = DocumentValidators(current_surface())
    try:
        request = WriteRequest(_validate(validators, resource.name, kept.body, using), using=using)
        if newest.operation == history.DELETE:
            created_at = datetime.fromisoformat((newest.columns or {})["created_at"])
            write = partial(store.restore, request, document_uuid, newest.created_by, created_at)
        else:
            write = partial(store.update, request, document_uuid, validators)
        return _write_as(write, username, using)
    except _REFUSALS_OF_VERSIONS as refusal:
        raise CannotRestore(_reasons_of(refusal)) from refusal


def kept_version(resource: Resource, document_uuid: UUID, change_version: int, using: str) -> history.Version:
    """The version with its body. Raises CannotRestore."""
    found = history.versions(resource, document_uuid, 1, change_version + 1, using=using)
    if not found or found[0].change_version != change_version or found[0].text is None:
        raise CannotRestore([f"Version {change_version} is not kept."])
    return found[0]


def _write_as(write: Callable[[], Written], username: str, using: str) -> Written:
    """Do the write, and record the user who has it made, in one transaction."""
    with transaction.atomic(using):
        written = write()
        if username and written.outcome is not Outcome.UNCHANGED:
            Restoration.objects.using(using).create(change_version=written.change_version, username=username)
    return written


def _last_delete(document_uuid: UUID, using: str) -> DeletedDocument:
    deletes = DeletedDocument.objects.using(using).filter(document_uuid=document_uuid)
    deleted = deletes.select_related("resource_type").order_by("-change_version").first()
    if deleted is None:
        raise CannotRestore([f"No deleted document has the id {document_uuid}."])
    return deleted


def _validate_deleted(deleted: DeletedDocument, using: str) -> ValidatedDocument:
    """Validate the body by the rules of the current data standard."""
    if deleted.body is None:
        raise CannotRestore([f"The body of {deleted.natural_key}, deleted {deleted.deleted_at:%Y-%m-%d}, was purged."])
    surface, type_ = current_surface(), deleted.resource_type
    name = ResourceName(type_.project, type_.name)
    if name not in surface.by_name:
        raise CannotRestore([f"{type_} is not part of the standard that is served."])
    return _validate(DocumentValidators(surface), name, deleted.body, using)


def _validate(validators: DocumentValidators, name: ResourceName, body: Any, using: str) -> ValidatedDocument:
    return validators[name].validate(body, partial(descriptor_uri_cache.stored_uris, using=using))


def _reasons_of(refusal: Exception) -> list[str]:
    """The reasons in the texts of the API's problem details."""
    problem = problem_of(refusal) or SYSTEM_ERROR
    found = [
        f"{path}: {message}" for path, messages in (problem.validation_errors or {}).items() for message in messages
    ]
    return [*found, *problem.errors] or [problem.detail]
