"""Writes documents, and reads single ones.

An operation is one statement and one round trip; those of descriptors, which keep the stored spelling of their keys,
are two.

The statement returns an outcome; `effect_of` (`write_errors`) says what follows from it. A policy is evaluated in the
statement itself and sees its snapshot: a permission that is revoked while a write runs applies from the next one on,
unless the write has waited for the lock on the document and is retried.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import IntegrityError, transaction
from uuid_utils.compat import uuid7

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.storage import descriptor_uri_cache, merges, policy_statements, resource_types, upsert_groups
from edfi_api.core.storage.cascade import replace_once
from edfi_api.core.storage.database_state import database_state, record_writer
from edfi_api.core.storage.driver.execution import (
    StatementAborted,
    TooMuchContention,
    attempts,
    execute,
    execute_bound,
    holding,
    run_with_retries,
)
from edfi_api.core.storage.driver.prepared_statements import BoundStatement, Row, bound
from edfi_api.core.storage.driver.sql import Sql, statements_of
from edfi_api.core.storage.exceptions import DocumentExists, DocumentNotFound, IdentityConflict
from edfi_api.core.storage.row_policy import RowPolicy
from edfi_api.core.storage.stored import Outcome, RecentOutcomes, StoredDocument, Written, recent_upserts
from edfi_api.core.storage.write_errors import (
    TESTS_BY_ALIAS,
    TESTS_BY_UUID,
    TESTS_OF_STORED,
    DeniedRequest,
    IneffectiveWrite,
    RefusedDelete,
    effect_of,
    outcome_of,
    refuse_unreadable_version,
)
from edfi_api.core.storage.write_requests import (
    NO_DOCUMENT,
    DeleteRequest,
    Values,
    WriteRequest,
)
from edfi_api.model.surface.resource import Resource

_statement = statements_of(__file__)
_VERSION_BY_ALIAS, _VERSION_BY_UUID = _statement("version_by_alias"), _statement("version_by_uuid")
_LOCK_BY_ALIAS, _LOCK_BY_UUID = _statement("lock_by_alias"), _statement("lock_by_uuid")
_LOCKED_BY_ALIASES = _statement("locked_by_aliases")
_KEEP_CREATION = _statement("keep_creation")


def upsert(request: WriteRequest) -> Written:
    """Insert the document, or replace the one with its natural key. Identical content changes nothing.

    Raises UnresolvedReference with every missing target, IdentityConflict if a document of another subclass has the
    identity, TooMuchContention after the last attempt, and the exceptions of the request's condition and policy.
    """
    name, state = request.document.resource.name, database_state(request.using)
    recent = state.value(recent_upserts)
    if request.document.resource.is_descriptor:
        written = merges.upsert(merges.of_whole(request))
        recent.add(name, written.outcome)
        return written
    write_alone, groups = partial(_upsert_alone, request), state.value(upsert_groups.groups_of_database)
    written = upsert_groups.upsert_in_group(request, recent.likely(name), write_alone, groups)
    recent.add(name, written.outcome)
    record_writer(request.client, request.using)
    return written


def _upsert_alone(request: WriteRequest, outcome: Outcome | None) -> Written:
    using, policy, values = request.using, request.policy, request.values(uuid7())
    refused = partial(IneffectiveWrite, request, TESTS_BY_ALIAS, values)
    if written := _write_likely(policy_statements.likely_upsert, request, values, outcome, refused):
        return written

    def attempt() -> Written:
        refuse_unreadable_version(request, TESTS_BY_ALIAS, values)
        expected = request.condition.version_to_replace(_VERSION_BY_ALIAS, values, using)
        statement = policy_statements.upsert(policy).bound_to(values | {"expected_version": expected})
        return Written.of(execute(statement, using))

    return run_with_retries(
        partial(effect_of, attempt, refused()), lambda: holding(_LOCK_BY_ALIAS.bound_to(values), using)
    )


def update(request: WriteRequest, document_uuid: UUID, validators: DocumentValidators) -> Written:
    """Replace the body of the document with this id. A change of its identity cascades to its referrers.

    Raises DocumentNotFound and what `upsert` raises; for a new identity KeyChangeNotSupported if the resource does not
    allow it, and KeyChangeContradicts if it contradicts a referrer, which is named if the caller may read it.
    """
    if request.document.resource.is_descriptor:
        return merges.update(merges.of_whole(request), document_uuid, validators)
    using, name, values = request.using, request.document.resource.name, request.values(document_uuid)
    recent = database_state(using).value(_recent_updates)

    def attempt() -> Written:
        refuse_unreadable_version(request, TESTS_BY_UUID, values)
        expected = request.condition.version_to_replace(_VERSION_BY_UUID, values, using, is_by_id=True)
        return replace_once(request, values | {"expected_version": expected}, validators)

    refused = partial(IneffectiveWrite, request, TESTS_BY_UUID, values)
    written = _write_likely(policy_statements.likely_update, request, values, recent.likely(name), refused)
    if written is None:
        written = run_with_retries(
            partial(effect_of, attempt, refused()), lambda: holding(_LOCK_BY_UUID.bound_to(values), using)
        )
    recent.add(name, written.outcome)
    record_writer(request.client, using)
    return written


def delete(request: DeleteRequest) -> bool:
    """Delete the document with its aliases and references; False if it does not exist.

    Raises DependentItemExists, with the path of the document if the caller may read it, TooMuchContention, and the
    exceptions of the request's condition and policy.
    """
    using, values = request.using, request.values()
    statement, refused = policy_statements.delete(request.policy).bound_to(values), RefusedDelete(request, values)

    def attempt() -> Written:
        refuse_unreadable_version(request, TESTS_OF_STORED, values)
        expected = request.condition.version_to_replace(_VERSION_BY_UUID, values, using, is_by_id=True)
        return Written.of(execute(statement.with_values(expected_version=expected), using))

    try:
        run_with_retries(partial(effect_of, attempt, refused))
    except DocumentNotFound:
        return False
    if request.resource.is_descriptor:
        descriptor_uri_cache.forget(using)
    record_writer(request.client, using)
    return True


def get(
    resource: Resource, document_uuid: UUID, *, policy: RowPolicy | None = None, using: str
) -> StoredDocument | None:
    """The document of this resource with this id, or None. Raises the refusals of `policy`."""
    return Reading(resource, policy, using)(document_uuid)


class Reading:
    """`get` for one resource and policy: the statement is composed once."""

    def __init__(self, resource: Resource, policy: RowPolicy | None, using: str) -> None:
        resource_type = resource_types.numbers(using)[resource.name]
        statement = policy_statements.get(policy).with_values(resource_type=resource_type, document_uuid=None)
        self._statement = bound(statement)
        self._place = self._statement.compiled.names.index("document_uuid")
        self._key = {"resource_type": resource_type}
        self._policy = policy
        self._using = using

    def statement(self, document_uuid: UUID) -> BoundStatement:
        """The statement that reads the document."""
        return self._statement.with_value(self._place, document_uuid)

    def __call__(self, document_uuid: UUID, rows: Sequence[Row] | None = None) -> StoredDocument | None:
        """What `get` returns. `rows` are those of the statement, if it has been executed."""
        for _ in attempts():
            try:
                if rows is None:
                    rows = execute_bound(self.statement(document_uuid), self._using)
                if not rows:
                    return None
                if self._policy is None:
                    return StoredDocument(*rows[0])
                *columns, is_allowed = rows[0]
                if is_allowed:
                    return StoredDocument(*columns)
                # Returns if the reason of the denial no longer exists.
                values = {**self._key, "document_uuid": document_uuid}
                DeniedRequest(self._policy, TESTS_OF_STORED, values, self._using).explain_using()
            except StatementAborted:
                pass
            rows = None
        raise TooMuchContention


def locked_bodies(referential_ids: Sequence[UUID], using: str) -> dict[UUID, bytes]:
    """The bodies of the documents with these ids, which stay as they are until the transaction ends; those of no
    document are missing."""
    return dict(execute(_LOCKED_BY_ALIASES.with_values(ids=list(referential_ids)), using))


def restore(request: WriteRequest, document_uuid: UUID, created_by: int | None, created_at: datetime) -> Written:
    """Insert a deleted document under its former id.

    Raises DocumentExists if that id is in use, IdentityConflict if another document has its natural key, and
    UnresolvedReference as `upsert` does.
    """
    using, document = request.using, request.document
    values = request.values(document_uuid)
    insert = policy_statements.upsert(None).bound_to(values | {"expected_version": NO_DOCUMENT})
    creation = _KEEP_CREATION.with_values(
        document_uuid=document_uuid, created_by=created_by, created_at=created_at.isoformat()
    )

    def attempt() -> Written:
        if get(document.resource, document_uuid, using=using):
            raise DocumentExists(document_uuid)
        if execute(_VERSION_BY_ALIAS.bound_to(values), using):
            raise IdentityConflict(document.resource, document.identity.elements, is_new=True)
        with transaction.atomic(using):
            written = Written.of(execute(insert, using))
            execute(creation, using)
        return written

    refused = IneffectiveWrite(request, TESTS_BY_ALIAS, values)
    return run_with_retries(partial(effect_of, attempt, refused))


def _write_likely(
    compose: Callable[..., Sql],
    request: WriteRequest,
    values: Values,
    outcome: Outcome | None,
    refused: Callable[[], IneffectiveWrite],
) -> Written | None:
    """Write by the statement that does only what leads to this outcome, if the request has no condition. None if it
    writes nothing or is aborted, so that the whole statement has to follow. Raises the refusal of what constraints
    refuse."""
    if outcome is None or request.condition.is_given:
        return None
    statement = compose(outcome, request.policy, has_links=bool(values["linked"])).bound_to(values)
    try:
        rows = execute(statement, request.using)
    except StatementAborted:
        return None
    except IntegrityError as violation:
        refused().refuse(outcome_of(violation))
        return None
    return Written.of(rows) if rows else None


def _recent_updates(_using: str) -> RecentOutcomes:
    return RecentOutcomes()
