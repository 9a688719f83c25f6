"""Writes documents, and reads single ones: one statement, one round trip per operation.

Integrity is enforced by constraints in the database; their violations are translated here, and only here, into the
exceptions of `documents` and `references`. A write that conflicts with a concurrent one is retried a bounded number of
times. A policy is evaluated in the statement itself; if a write has several errors, its refusal is reported first. The
policy sees the snapshot of the statement: a permission that is revoked while a write runs applies from the next one on,
unless the write has waited for the lock on the document and is retried.
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, IntegrityError, transaction
from psycopg import errors
from uuid_utils.compat import uuid7

from edfi_api.documents.incoming import IncomingDocument, Preparers
from edfi_api.documents.violations import as_many_as_reported
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.storage import cascade, resource_types, statements
from edfi_api.storage.conditions import CONDITION_FAILURES, NO_DOCUMENT, UNCONDITIONAL, WriteCondition
from edfi_api.storage.data_store import data_store
from edfi_api.storage.denial import DeniedRequest
from edfi_api.storage.driver.execution import MetConcurrentWrite, execute, with_retries
from edfi_api.storage.driver.prepared import Row
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.exceptions import (
    DocumentExists,
    DocumentNotFound,
    IdentityConflict,
    KeyChangeContradicts,
    KeyChangeNotSupported,
)
from edfi_api.storage.recent_writers import record_writer
from edfi_api.storage.row_policy import MayRead, RowPolicy
from edfi_api.storage.stored import StoredDocument, WrittenDocument
from references import resolution
from references.exceptions import UnresolvedReference
from references.identity import descriptor_natural_key, referential_id
from references.models import Alias

Result = TypeVar("Result")


class Outcome(StrEnum):
    """The outcome of a write, as the statements return it."""

    INSERTED = "inserted"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    OTHER_IDENTITY = "other identity"
    DENIED = "denied"


# The outcome of the last upsert of each resource in this process. Clients mostly send either new documents only or all
# of their documents repeatedly, so the last outcome predicts the next.
def _last_outcomes(_using: str) -> dict[ResourceName, Outcome]:
    return {}


class _Denied(Exception):
    """The policy has denied the write; nothing was written."""


def upsert(
    incoming: IncomingDocument,
    client: int | None = None,
    condition: WriteCondition = UNCONDITIONAL,
    *,
    policy: RowPolicy | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> tuple[WrittenDocument, Outcome]:
    """Insert the document, or replace the one with its natural key. Identical content changes nothing.

    Raises UnresolvedReference with every missing target, IdentityConflict if a document of another subclass has the
    identity, TooMuchContention after the last attempt, the exceptions of `condition` and the refusals of `policy`.
    `client` is the row id of the API client.
    """
    parameters = {**_write_parameters(incoming, using), "document_uuid": uuid7(), "client": client}
    statement = statements.upsert(policy).with_values(**parameters)
    last_outcomes = data_store(using).state(_last_outcomes)
    is_repetition_likely = not condition.is_given and last_outcomes.get(incoming.resource.name) is Outcome.UNCHANGED

    def attempt() -> tuple[WrittenDocument, Outcome]:
        if is_repetition_likely and (rows := _execute(statements.unchanged(policy).with_values(**parameters), using)):
            return WrittenDocument(*rows[0]), Outcome.UNCHANGED
        rows = execute(statements.VERSION_BY_ALIAS, parameters, using) if condition.is_given else []
        expected = condition.expected_version(_only_value(rows)) if condition.is_given else None
        return _write_or_explain(statement.with_values(expected_version=expected), incoming, using)

    denied = _denied(policy, statements.TESTS_BY_ALIAS, parameters, using)
    written = _at_once_or_in_turn(_policy_first(attempt, denied, incoming), statements.LOCK_BY_ALIAS, parameters, using)
    last_outcomes[incoming.resource.name] = written[1]
    record_writer(client, using)
    return written


def update(
    incoming: IncomingDocument,
    document_uuid: UUID,
    preparers: Preparers,
    client: int | None = None,
    condition: WriteCondition = UNCONDITIONAL,
    *,
    policy: RowPolicy | None = None,
    may_read: MayRead | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> WrittenDocument:
    """Replace the body of the document with this id. A change of its identity cascades to its referrers.

    Raises DocumentNotFound and what `upsert` raises; for a new identity KeyChangeNotSupported if the resource does not
    allow it, and KeyChangeContradicts if it contradicts a referrer, which is named if the caller `may_read` it.
    """
    parameters = {**_write_parameters(incoming, using), "document_uuid": document_uuid, "client": client}

    def attempt() -> WrittenDocument:
        expected = parameters | {"expected_version": _expected_version(condition, parameters, using)}
        try:
            stored, outcome = _write(statements.update(policy).with_values(**expected), incoming, using)
            if outcome is Outcome.OTHER_IDENTITY:
                return _change_identity(incoming, expected, policy, preparers, using)
        except KeyChangeContradicts as refusal:
            if may_read and not may_read({refusal.row: refusal.resource.name}):
                raise replace(refusal, natural_key="") from refusal
            raise
        except MetConcurrentWrite:
            if get(incoming.resource, document_uuid, using=using) is None:
                raise DocumentNotFound(incoming.resource) from None
            _raise_unresolved(incoming, using)
            raise
        return stored

    denied = _denied(policy, statements.TESTS_BY_UUID, parameters, using)
    stored = _at_once_or_in_turn(_policy_first(attempt, denied, incoming), statements.LOCK_BY_UUID, parameters, using)
    record_writer(client, using)
    return stored


def restore(
    incoming: IncomingDocument,
    document_uuid: UUID,
    created_by: int | None,
    created_at: datetime,
    *,
    using: str = DEFAULT_DB_ALIAS,
) -> WrittenDocument:
    """Insert a deleted document under its former id.

    Raises DocumentExists if that id is in use, IdentityConflict if another document has its natural key, and
    UnresolvedReference as `upsert` does.
    """
    creation = {"created_by": created_by, "created_at": created_at.isoformat()}
    parameters = {**_write_parameters(incoming, using), "document_uuid": document_uuid, "client": None} | creation

    def attempt() -> WrittenDocument:
        if get(incoming.resource, document_uuid, using=using):
            raise DocumentExists(document_uuid)
        if execute(statements.VERSION_BY_ALIAS, parameters, using):
            raise IdentityConflict(incoming.resource, incoming.identity.elements, is_new=True)
        with transaction.atomic(using):
            statement = statements.upsert(None).with_values(**parameters, expected_version=NO_DOCUMENT)
            stored, _ = _write_or_explain(statement, incoming, using)
            execute(statements.KEEP_CREATION, parameters, using)
        return stored

    return with_retries(attempt)


def _execute(statement: Sql, using: str) -> list[Row]:
    return execute(statement.text, statement.parameters, using)


def _policy_first(
    attempt: Callable[[], Result], denied: DeniedRequest | None, incoming: IncomingDocument
) -> Callable[[], Result]:
    """The attempt, with the refusal of the policy raised before any other error of the request."""
    if denied is None:
        return attempt

    def checked_attempt() -> Result:
        try:
            return attempt()
        except _Denied as error:
            denied.explain(incoming, _unresolved(incoming, denied.using))
            raise MetConcurrentWrite from error  # The reason of the denial no longer exists.
        except (*CONDITION_FAILURES, UnresolvedReference, KeyChangeNotSupported, IdentityConflict):
            denied.explain(incoming, _unresolved(incoming, denied.using))
            raise

    return checked_attempt


def _denied(policy: RowPolicy | None, find: str, parameters: Mapping[str, Any], using: str) -> DeniedRequest | None:
    return None if policy is None else DeniedRequest(policy, find, parameters, using)


def _at_once_or_in_turn(attempt: Callable[[], Result], lock: str, parameters: Mapping[str, Any], using: str) -> Result:
    """Attempt without a lock; after a concurrent write, retry with the document's row locked first.

    A write that waits for another one has read its snapshot before, so it has to be retried. Without the lock, each of
    many writers of one document could lose every retry to another; the lock queues them.
    """

    def attempt_in_turn() -> Result:
        with transaction.atomic(using):
            execute(lock, parameters, using)
            return attempt()

    try:
        return attempt()
    except MetConcurrentWrite:
        return with_retries(attempt_in_turn)


def _change_identity(
    incoming: IncomingDocument,
    parameters: Mapping[str, Any],
    policy: RowPolicy | None,
    preparers: Preparers,
    using: str,
) -> WrittenDocument:
    if not incoming.resource.allows_identity_updates:
        unresolved = _unresolved(incoming, using)
        if unresolved and unresolved.descriptors:
            raise unresolved
        raise KeyChangeNotSupported(incoming.resource)
    try:
        cascade.change_identity(incoming, parameters, policy, preparers, using)
    except KeyChangeContradicts:
        # Errors of the document itself are reported before those of its referrers.
        _raise_unresolved(incoming, using)
        raise
    except IntegrityError as error:
        raise MetConcurrentWrite from error  # or a reference that does not resolve, which `update` checks then
    stored = get(incoming.resource, parameters["document_uuid"], using=using)
    if stored is None:
        raise MetConcurrentWrite
    return WrittenDocument(stored.document_uuid, stored.change_version)


def delete(
    resource: Resource,
    document_uuid: UUID,
    client: int | None = None,
    condition: WriteCondition = UNCONDITIONAL,
    *,
    user: str | None = None,
    policy: RowPolicy | None = None,
    may_read: MayRead | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> bool:
    """Delete the document with its aliases and references; False if it does not exist.

    Raises DependentItemExists, with the path of the document if the caller `may_read` it, the exceptions of `condition`
    and the refusals of `policy`. `user` is the name of the admin user, for a delete in the admin.
    """
    parameters = {"document_uuid": document_uuid, "resource_type": _number(resource, using)}
    parameters |= {"client": client, "user": user}
    statement = statements.delete(policy).with_values(**parameters)
    denied = _denied(policy, statements.TESTS_OF_STORED, parameters, using)

    def attempt() -> bool:
        try:
            expected = _expected_version(condition, parameters, using)
        except CONDITION_FAILURES:
            if denied:
                denied.explain_using()
            raise
        try:
            rows = _execute(statement.with_values(expected_version=expected), using)
        except IntegrityError as error:
            if dependents := resolution.dependents(document_uuid, using):
                is_readable = may_read is not None and may_read({dependents.row: resource.name})
                path = f"{resource.url_path}/{document_uuid}" if is_readable else ""
                raise replace(dependents, path=path) from error
            raise MetConcurrentWrite from error  # the last referrer was deleted concurrently
        is_denied = any(outcome == Outcome.DENIED for outcome, _ in rows)
        if is_denied and denied:
            denied.explain_using()
        if is_denied or (expected and not rows):
            raise MetConcurrentWrite  # the reason of the denial, or the expected version, was changed concurrently
        return bool(rows)

    was_there = with_retries(attempt)
    record_writer(client, using)
    return was_there


def _expected_version(condition: WriteCondition, parameters: Mapping[str, Any], using: str) -> int | None:
    """The version that the condition allows to replace; None without a condition or without a document."""
    if not condition.is_given:
        return None
    current = _only_value(execute(statements.VERSION_BY_UUID, parameters, using))
    if current is None and not condition.needs_a_document:
        return None
    return condition.expected_version(current)


def _only_value(rows: list[Row]) -> Any:
    return rows[0][0] if rows else None


def get(
    resource: Resource,
    document_uuid: UUID,
    *,
    policy: RowPolicy | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> StoredDocument | None:
    """The document of this resource with this id, or None. Raises the refusals of `policy`."""
    parameters = {"document_uuid": document_uuid, "resource_type": _number(resource, using)}
    statement = statements.get(policy).with_values(**parameters)
    if policy is None:
        rows = with_retries(lambda: _execute(statement, using))
        return StoredDocument(*rows[0]) if rows else None
    return _get_checked(statement, DeniedRequest(policy, statements.TESTS_OF_STORED, parameters, using))


def _get_checked(statement: Sql, denied: DeniedRequest) -> StoredDocument | None:
    def attempt() -> StoredDocument | None:
        rows = _execute(statement, denied.using)
        if not rows:
            return None
        *columns, is_allowed = rows[0]
        if not is_allowed:
            denied.explain_using()
            raise MetConcurrentWrite  # The reason of the denial no longer exists.
        return StoredDocument(*columns)

    return with_retries(attempt)


def _number(resource: Resource, using: str) -> int:
    return resource_types.numbers(using)[resource.name]


def _write_parameters(incoming: IncomingDocument, using: str) -> dict[str, Any]:
    return {
        "resource_type": _number(incoming.resource, using),
        "referential_id": incoming.identity.referential_id,
        "natural_key": incoming.identity.natural_key,
        "aliases": incoming.identity.aliases,
        "targets": incoming.targets,
        "linked": incoming.linked,
        "body": incoming.text.decode(),
        **incoming.securables._asdict(),
    }


def _write(statement: Sql, incoming: IncomingDocument, using: str) -> tuple[WrittenDocument, Outcome]:
    try:
        rows = _execute(statement, using)
    except IntegrityError as error:
        _translate(error, incoming, using)
        raise MetConcurrentWrite from error
    if not rows:
        raise MetConcurrentWrite
    outcome, *written = rows[0]
    if outcome == Outcome.DENIED:
        raise _Denied
    return WrittenDocument(*written), Outcome(outcome)


def _write_or_explain(statement: Sql, incoming: IncomingDocument, using: str) -> tuple[WrittenDocument, Outcome]:
    """As `_write`; if nothing was written, raises UnresolvedReference if a reference does not resolve."""
    try:
        return _write(statement, incoming, using)
    except MetConcurrentWrite:
        _raise_unresolved(incoming, using)
        raise


def _translate(error: IntegrityError, incoming: IncomingDocument, using: str) -> None:
    """Raise the exception for a constraint violation; return if its cause is a concurrent write."""
    constraint = error.__cause__.diag.constraint_name if isinstance(error.__cause__, errors.Error) else None
    if constraint in {"reference_alias_fk", "alias_pkey"}:
        _raise_unresolved(incoming, using)
    if constraint == "alias_pkey":
        _raise_if_taken_by_another_subclass(incoming, using)


def _raise_unresolved(incoming: IncomingDocument, using: str) -> None:
    if unresolved := _unresolved(incoming, using):
        raise unresolved


def _unresolved(incoming: IncomingDocument, using: str) -> UnresolvedReference | None:
    wanted = [*incoming.targets, *(each.referential_id for each in incoming.key_descriptors)]
    missing = resolution.missing(wanted, using) - set(incoming.identity.aliases)
    return unresolved(incoming, missing, lambda uris: stored_uris(uris, using)) if missing else None


def unresolved(
    incoming: IncomingDocument, missing: Set[UUID], stored: Callable[[Set[str]], Set[str]]
) -> UnresolvedReference:
    """The references, and descriptors in reference keys, whose target is among the `missing` ids; at most as many as
    are reported. `stored` returns which of some URIs belong to a stored descriptor of any type."""
    sent = (*incoming.references, *incoming.key_descriptors)
    references = [reference for reference in sent if reference.referential_id in missing]
    documents = as_many_as_reported(reference for reference in references if reference.value is None)
    descriptors = as_many_as_reported(reference for reference in references if reference.value is not None)
    of_another_type = stored({reference.value for reference in descriptors if reference.value})
    return UnresolvedReference(
        documents=[reference.as_missing() for reference in documents],
        descriptors=[reference.as_missing(reference.value in of_another_type) for reference in descriptors],
    )


def stored_uris(uris: Set[str], using: str) -> Set[str]:
    """Which of these URIs belong to a stored descriptor of any type; one query."""
    names = [name for name in resource_types.numbers(using) if name.resource.endswith("Descriptor")]
    keys = {uri: descriptor_natural_key(uri.lower()) for uri in uris}
    ids = {referential_id(name.project, name.resource, key): uri for uri, key in keys.items() for name in names}
    return {ids[found] for found in resolution.stored(ids, using)}


def _raise_if_taken_by_another_subclass(incoming: IncomingDocument, using: str) -> None:
    identity = incoming.identity
    aliases = Alias.objects.using(using)
    owners = dict(aliases.filter(pk__in=identity.aliases).values_list("referential_id", "document_id"))
    if identity.superclass_id in owners and identity.referential_id not in owners:
        raise IdentityConflict(incoming.resource, identity.elements, is_new=True)
