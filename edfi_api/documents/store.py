"""The only writer of documents, and the reader of single ones. One statement, one round trip per operation.

Integrity is the database's: what its constraints refuse is translated here, and only here, into the exceptions of
`documents` and `references`. A write that met a concurrent one is run again a bounded number of times. A guard is
asked in the statement itself; of all that is wrong with a write, what the guard refuses is told first. It answers for
the moment in which the statement begins: what another client takes away while a write is on its way counts for the next
one, unless the write has waited for the document itself and starts anew.
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

from edfi_api.documents import cascade, replica, resource_types, statements
from edfi_api.documents.conditions import CONDITION_FAILURES, NO_DOCUMENT, UNCONDITIONAL, WriteCondition
from edfi_api.documents.denial import Inquiry
from edfi_api.documents.exceptions import (
    DocumentExists,
    DocumentNotFound,
    IdentityConflict,
    KeyChangeContradicts,
    KeyChangeNotSupported,
)
from edfi_api.documents.execution import MetConcurrentWrite, execute, with_retries
from edfi_api.documents.guards import NEW, PROPOSED, STORED, Guard, MayRead
from edfi_api.documents.incoming import IncomingDocument, Preparers
from edfi_api.documents.prepared import Row
from edfi_api.documents.statements import Demands
from edfi_api.documents.stored import StoredDocument, WrittenDocument
from edfi_api.documents.violations import as_many_as_reported
from edfi_api.surface.resource import Resource, ResourceName
from references import resolution
from references.exceptions import UnresolvedReference
from references.identity import descriptor_natural_key, referential_id
from references.models import Alias

Result = TypeVar("Result")


class Outcome(StrEnum):
    """What a write did; the values are those of the statements."""

    INSERTED = "inserted"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    OTHER_IDENTITY = "other identity"
    DENIED = "denied"


# Of upserts of each resource in this process. Most clients send either what is new or all that they have, again and
# again; so as the last one went, the next one is likely to go.
_last_outcomes: dict[ResourceName, Outcome] = {}


class _Denied(Exception):
    """The guard said no; nothing was written."""


def upsert(
    incoming: IncomingDocument,
    client: int | None = None,
    condition: WriteCondition = UNCONDITIONAL,
    *,
    guard: Guard | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> tuple[WrittenDocument, Outcome]:
    """Insert the document, or replace the one with its natural key; the same content again changes nothing.

    Raises UnresolvedReference naming every missing target, IdentityConflict if another subclass document has
    the identity, TooMuchContention after the last attempt, what `condition` raises and what `guard` refuses with.
    `client` is the row id of the API client.
    """
    parameters = {**_write_parameters(incoming, using), "document_uuid": uuid7(), "client": client}
    parameters |= _guard_parameters(guard)
    demands = _demands(guard)
    statement = statements.upsert(demands)
    is_repetition_likely = not condition.is_given and _last_outcomes.get(incoming.resource.name) is Outcome.UNCHANGED

    def attempt() -> tuple[WrittenDocument, Outcome]:
        if is_repetition_likely and (rows := execute(statements.unchanged(demands), parameters, using)):
            return WrittenDocument(*rows[0]), Outcome.UNCHANGED
        rows = execute(statements.VERSION_BY_ALIAS, parameters, using) if condition.is_given else []
        expected = condition.expected_version(_only_value(rows)) if condition.is_given else None
        return _write_or_tell_why(statement, parameters | {"expected_version": expected}, incoming, using)

    inquiry = _inquiry(guard, statements.QUESTIONS_BY_ALIAS, parameters, using)
    written = _at_once_or_in_turn(_guard_first(attempt, inquiry, incoming), statements.LOCK_BY_ALIAS, parameters, using)
    _last_outcomes[incoming.resource.name] = written[1]
    replica.remember_writer(client, using)
    return written


def update(
    incoming: IncomingDocument,
    document_uuid: UUID,
    preparers: Preparers,
    client: int | None = None,
    condition: WriteCondition = UNCONDITIONAL,
    *,
    guard: Guard | None = None,
    may_read: MayRead | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> WrittenDocument:
    """Replace the body of the document with this id. A new identity is carried into the documents that refer to it.

    Raises DocumentNotFound, what `upsert` raises, and for another identity KeyChangeNotSupported if the resource
    does not allow it, KeyChangeContradicts if a referrer cannot follow; who `may_read` it learns which.
    """
    parameters = {**_write_parameters(incoming, using), "document_uuid": document_uuid, "client": client}
    parameters |= _guard_parameters(guard)
    demands = _demands(guard)

    def attempt() -> WrittenDocument:
        expected = parameters | {"expected_version": _expected_version(condition, parameters, using)}
        try:
            stored, outcome = _write(statements.update(demands), expected, incoming, using)
            if outcome is Outcome.OTHER_IDENTITY:
                return _change_identity(incoming, expected, demands, preparers, using)
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

    inquiry = _inquiry(guard, statements.QUESTIONS_BY_UUID, parameters, using)
    stored = _at_once_or_in_turn(_guard_first(attempt, inquiry, incoming), statements.LOCK_BY_UUID, parameters, using)
    replica.remember_writer(client, using)
    return stored


def restore(
    incoming: IncomingDocument,
    document_uuid: UUID,
    created_by: int | None,
    created_at: datetime,
    *,
    using: str = DEFAULT_DB_ALIAS,
) -> WrittenDocument:
    """Insert a document that was deleted, under the id that it had.

    Raises DocumentExists if one has that id, IdentityConflict if another has its natural key, and UnresolvedReference
    as `upsert` does.
    """
    creation = {"created_by": created_by, "created_at": created_at.isoformat()}
    parameters = {**_write_parameters(incoming, using), "document_uuid": document_uuid, "client": None} | creation

    def attempt() -> WrittenDocument:
        if get(incoming.resource, document_uuid, using=using):
            raise DocumentExists(document_uuid)
        if execute(statements.VERSION_BY_ALIAS, parameters, using):
            raise IdentityConflict(incoming.resource, incoming.identity.elements, is_new=True)
        with transaction.atomic(using):
            stored, _ = _write_or_tell_why(
                statements.upsert(None), parameters | {"expected_version": NO_DOCUMENT}, incoming, using
            )
            execute(statements.KEEP_CREATION, parameters, using)
        return stored

    return with_retries(attempt)


def _demands(guard: Guard | None) -> Demands | None:
    return None if guard is None else Demands(guard.sql(STORED), guard.sql(PROPOSED), guard.sql(NEW))


def _guard_parameters(guard: Guard | None) -> Mapping[str, Any]:
    return {} if guard is None else guard.parameters


def _guard_first(
    attempt: Callable[[], Result], inquiry: Inquiry | None, incoming: IncomingDocument
) -> Callable[[], Result]:
    """The attempt, which says what the guard refuses before it says what else is wrong."""
    if inquiry is None:
        return attempt

    def guarded_attempt() -> Result:
        try:
            return attempt()
        except _Denied as denied:
            inquiry.raise_if_denied(incoming, _unresolved(incoming, inquiry.using))
            raise MetConcurrentWrite from denied  # What stood in the way has gone.
        except (*CONDITION_FAILURES, UnresolvedReference, KeyChangeNotSupported, IdentityConflict):
            inquiry.raise_if_denied(incoming, _unresolved(incoming, inquiry.using))
            raise

    return guarded_attempt


def _inquiry(guard: Guard | None, find: str, parameters: Mapping[str, Any], using: str) -> Inquiry | None:
    return None if guard is None else Inquiry(guard, find, parameters, using)


def _at_once_or_in_turn(attempt: Callable[[], Result], lock: str, parameters: Mapping[str, Any], using: str) -> Result:
    """Try; after meeting another writer, try again with the document's row locked.

    A write that waited for another has read before it waited, so it starts anew. With many writers of one document,
    each would find that yet another was faster; behind the lock they queue and each gets its turn.
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
    demands: Demands | None,
    preparers: Preparers,
    using: str,
) -> WrittenDocument:
    if not incoming.resource.allows_identity_updates:
        unresolved = _unresolved(incoming, using)
        if unresolved and unresolved.descriptors:
            raise unresolved
        raise KeyChangeNotSupported(incoming.resource)
    try:
        cascade.change_identity(incoming, parameters, demands, preparers, using)
    except KeyChangeContradicts:
        # What is wrong with the document itself comes before what is wrong with its referrers.
        _raise_unresolved(incoming, using)
        raise
    except IntegrityError as error:
        raise MetConcurrentWrite from error  # or a reference leads nowhere: `update` asks
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
    guard: Guard | None = None,
    may_read: MayRead | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> bool:
    """Remove the document with its aliases and references; False if there is none.

    Raises DependentItemExists, with the path of the document if the caller `may_read` it, what `condition` raises and
    what `guard` refuses with. `user` is the name of the user of the admin who deletes it.
    """
    parameters = {"document_uuid": document_uuid, "resource_type": _number(resource, using)}
    parameters |= {"client": client, "user": user, **_guard_parameters(guard)}
    statement = statements.delete(_demands(guard))
    inquiry = _inquiry(guard, statements.QUESTIONS_ABOUT_STORED, parameters, using)

    def attempt() -> bool:
        try:
            expected = _expected_version(condition, parameters, using)
        except CONDITION_FAILURES:
            if inquiry:
                inquiry.raise_if_stored_is_denied()
            raise
        try:
            rows = execute(statement, parameters | {"expected_version": expected}, using)
        except IntegrityError as error:
            if dependents := resolution.dependents(document_uuid, using):
                is_readable = may_read is not None and may_read({dependents.row: resource.name})
                path = f"{resource.url_path}/{document_uuid}" if is_readable else ""
                raise replace(dependents, path=path) from error
            raise MetConcurrentWrite from error  # the last referrer went meanwhile
        is_denied = any(outcome == Outcome.DENIED for outcome, _ in rows)
        if is_denied and inquiry:
            inquiry.raise_if_stored_is_denied()
        if is_denied or (expected and not rows):
            raise MetConcurrentWrite  # what denied went meanwhile, or the version that the condition was held against
        return bool(rows)

    was_there = with_retries(attempt)
    replica.remember_writer(client, using)
    return was_there


def _expected_version(condition: WriteCondition, parameters: Mapping[str, Any], using: str) -> int | None:
    """What the condition lets a statement replace; None without a condition, or without a document to hold it to."""
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
    guard: Guard | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> StoredDocument | None:
    """The document of this resource with this id, or None. Raises what `guard` refuses with."""
    parameters = {"document_uuid": document_uuid, "resource_type": _number(resource, using)}
    if guard is None:
        rows = with_retries(lambda: execute(statements.get(None), parameters, using))
        return StoredDocument(*rows[0]) if rows else None
    inquiry = Inquiry(guard, statements.QUESTIONS_ABOUT_STORED, {**parameters, **guard.parameters}, using)
    return _get_guarded(inquiry)


def _get_guarded(inquiry: Inquiry) -> StoredDocument | None:
    statement = statements.get(_demands(inquiry.guard))

    def attempt() -> StoredDocument | None:
        rows = execute(statement, inquiry.parameters, inquiry.using)
        if not rows:
            return None
        *columns, is_allowed = rows[0]
        if not is_allowed:
            inquiry.raise_if_stored_is_denied()
            raise MetConcurrentWrite  # What stood in the way has gone.
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


def _write(
    statement: str, parameters: Mapping[str, Any], incoming: IncomingDocument, using: str
) -> tuple[WrittenDocument, Outcome]:
    try:
        rows = execute(statement, parameters, using)
    except IntegrityError as error:
        _translate(error, incoming, using)
        raise MetConcurrentWrite from error
    if not rows:
        raise MetConcurrentWrite
    outcome, *written = rows[0]
    if outcome == Outcome.DENIED:
        raise _Denied
    return WrittenDocument(*written), Outcome(outcome)


def _write_or_tell_why(
    statement: str, parameters: Mapping[str, Any], incoming: IncomingDocument, using: str
) -> tuple[WrittenDocument, Outcome]:
    """As `_write`; where nothing was written, a reference may lead nowhere."""
    try:
        return _write(statement, parameters, incoming, using)
    except MetConcurrentWrite:
        _raise_unresolved(incoming, using)
        raise


def _translate(error: IntegrityError, incoming: IncomingDocument, using: str) -> None:
    """Raise what the constraint means for the client; return if it only means that another writer was faster."""
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
    """The references to these ids, which no document has, and the descriptors among these ids in the keys of the
    targets, as many as are reported; `stored` says which of some URIs belong to a descriptor of whatever type."""
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
    """Which of these belong to a stored descriptor, of whatever type; one query."""
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
