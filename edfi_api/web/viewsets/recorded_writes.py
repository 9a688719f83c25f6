"""Hands writes to the recorder of the settings, if there is one: what was refused, and that something was accepted."""

import time
from collections.abc import Iterable
from functools import cache
from typing import Any
from uuid import UUID

from django.utils.module_loading import import_string
from rest_framework.response import Response

from edfi_api.common.conf import api_settings
from edfi_api.core.documents.document_validator import DocumentValidator, PendingDocument, ValidatedDocument
from edfi_api.core.writes.rules.ruled_write import Finding, RefusedByRules
from edfi_api.core.writes.writing import Write
from edfi_api.web.problem_details.exception_handler import correlation_id
from edfi_api.web.problem_details.problem import Problem
from edfi_api.web.write_recorder import (
    ACCEPTED_WITH_WARNINGS,
    MOST_BODY_BYTES,
    RECORDED,
    AcceptedWrite,
    RefusedWrite,
    WriteRecorder,
)
from references.exceptions import MissingTarget, UnresolvedReference

_DIGITS = len(str(2**63))
_OPERATIONS = {"POST": "upsert", "PUT": "update", "DELETE": "delete"}


def recorder() -> WriteRecorder | None:
    """The recorder of this process."""
    name = api_settings.WRITE_RECORDER
    return _recorder(name) if name else None


def record_accepted(request: Any, write: Write, document_uuid: str | UUID, status: int = 204) -> None:
    """Record a write that succeeded; its status is recorded if rules warn of it."""
    own = recorder()
    if own is None:
        return
    client, data_store, resource = request.user.row_id, data_store_of(request), write.resource.resource.url_path
    if own.count_accepted(client, data_store, resource, write.began):
        ids = ids_of(write.validated, document_uuid)
        has_warnings = write.check is not None and bool(write.check.warnings)
        is_delete = write.document is None
        own.record_accepted(
            AcceptedWrite(client, data_store, resource, ids, write.began, is_delete, has_warnings=has_warnings)
        )
    if write.check is not None and write.check.warnings:
        _record_warnings(own, request, write, status)


def _record_warnings(own: WriteRecorder, request: Any, write: Write, status: int) -> None:
    assert write.check is not None  # noqa: S101  Rules have warned.
    warnings, size = write.check.warnings, _body_size(request)
    own.record_refused(
        RefusedWrite(
            client=request.user.row_id,
            data_store=data_store_of(request),
            resource=write.resource.resource.url_path,
            validator=write.resource.validator,
            operation=_OPERATIONS[request.method],
            problem=problem_of_warnings(warnings, status, correlation_id(request._request)),
            at=time.time(),
            size=size,
            document_uuid=write.document_uuid,
            sent=write.document if size <= MOST_BODY_BYTES else None,
            validated=write.validated,
            rules=rules_of_findings(warnings),
        )
    )


def problem_of_warnings(warnings: Iterable[Finding], status: int, correlation: str) -> dict[str, Any]:
    """Warnings of rules in the form of a problem, as they are recorded."""
    by_path: dict[str, list[str]] = {}
    for each in warnings:
        by_path.setdefault(each.path, []).append(each.text)
    return Problem(
        status=status,
        type=ACCEPTED_WITH_WARNINGS,
        title="Accepted With Warnings",
        detail="The document was accepted. Rules of the host warn of it.",
        validation_errors=by_path,
    ).body(correlation)


def rules_of_findings(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The names of the rules, each once."""
    return tuple(dict.fromkeys(each.rule for each in findings))


def record_refused(
    request: Any,
    response: Response,
    error: Exception,
    *,
    resource: str,
    validator: DocumentValidator | None = None,
    write: Write | None = None,
    document_uuid: UUID | None = None,
) -> None:
    """Record a request that was answered with a problem."""
    operation = _OPERATIONS.get(request.method)
    if operation is None or response.status_code not in RECORDED:
        return
    size = _body_size(request)
    refused = RefusedWrite(
        client=request.user.row_id,
        data_store=data_store_of(request),
        resource=resource,
        validator=validator,
        operation=operation,
        problem=response.data,
        at=time.time(),
        size=size,
        document_uuid=document_uuid,
        sent=write.document if write and size <= MOST_BODY_BYTES else None,
        validated=write.validated if write else None,
        missing=missing_targets(error),
        rules=refusing_rules(error),
    )
    request._request.done = refused
    own = recorder()
    if own is not None:
        own.record_refused(refused)


def ids_of(prepared: ValidatedDocument | PendingDocument | None, document_uuid: str | UUID) -> tuple[UUID, ...]:
    """The ids by which the ledger recognizes the document of an accepted write."""
    uuid = document_uuid if isinstance(document_uuid, UUID) else UUID(document_uuid)
    return (uuid,) if prepared is None else (prepared.identity.referential_id, uuid)


def missing_targets(error: Exception) -> tuple[MissingTarget, ...]:
    """The targets that do not exist, in the order in which the answer names them."""
    return (*error.descriptors, *error.documents)[:1] if isinstance(error, UnresolvedReference) else ()


def refusing_rules(error: Exception) -> tuple[str, ...]:
    """Custom rules that have refused a write, if it was they."""
    return error.rules if isinstance(error, RefusedByRules) else ()


def data_store_of(request: Any) -> int:
    """The id of the data store that the request is for; 0 for the admin database."""
    # `getattr` with a default would raise and catch an error for an attribute that most requests lack.
    found: int = vars(request._request).get("data_store", 0)
    return found


def _body_size(request: Any) -> int:
    length = request.META.get("CONTENT_LENGTH") or ""
    return int(length) if length.isdecimal() and len(length) < _DIGITS else 0


@cache
def _recorder(name: str) -> WriteRecorder:
    made: WriteRecorder = import_string(name)()
    return made
