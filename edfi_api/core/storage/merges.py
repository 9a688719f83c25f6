"""Writes documents that depend on what is stored: two statements, compare-and-set.

The first reads the stored body and its version; the second is the ordinary write, which has no effect unless that
version is still the current one. Whatever is written in between makes the merge start over, from the second attempt on
with the lock on the document.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from uuid_utils.compat import uuid7

from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidators, PendingDocument, ValidatedDocument
from edfi_api.core.storage import policy_statements
from edfi_api.core.storage.cascade import replace_once
from edfi_api.core.storage.database_state import record_writer
from edfi_api.core.storage.driver.execution import execute, holding, run_with_retries
from edfi_api.core.storage.driver.sql import Sql, statements_of
from edfi_api.core.storage.exceptions import DocumentNotFound, NothingToMatch
from edfi_api.core.storage.row_policy import RowPolicy
from edfi_api.core.storage.stored import Outcome, Written
from edfi_api.core.storage.write_errors import (
    TESTS_BY_ALIAS,
    TESTS_BY_UUID,
    DeniedRequest,
    IneffectiveWrite,
    effect_of,
    missing_targets,
    refuse_unreadable_version,
)
from edfi_api.core.storage.write_requests import NO_DOCUMENT, Terms, Values, WriteRequest, stored_key

_statement = statements_of(__file__)

# The document to write, whose targets exist, and the stored body, None for a new document. Raises what refuses the
# write.
Check = Callable[[ValidatedDocument, dict[str, Any] | None], None]


@dataclass(slots=True)
class MergeRequest(Terms):
    """A document to insert or to replace that depends on the stored one: is merged with it, or is to be checked
    together with it, in the transaction that writes."""

    pending: PendingDocument
    check: Check | None = None

    def write(self, stored: dict[str, Any] | None) -> WriteRequest:
        """The request to write what follows from the stored body, None for a new document. Raises what
        `PendingDocument.merged` does."""
        return WriteRequest(self.pending.merged(stored).spelt_as(stored), **_terms(self))

    def key(self, document_uuid: UUID) -> Values:
        """The parameters by which the stored document is found."""
        found = stored_key(self.pending.resource, document_uuid, self.using)
        return {**found, "referential_id": self.pending.identity.referential_id}


def of_whole(request: WriteRequest) -> MergeRequest:
    """The request to write a whole document, which takes nothing but the spelling of its key from what is stored."""
    document = request.document
    return MergeRequest(PendingDocument(document.resource, document.identity, lambda _: document), **_terms(request))


def _terms(terms: Terms) -> dict[str, Any]:
    return {each.name: getattr(terms, each.name) for each in fields(Terms)}


# Writes a document unless its version has changed.
_WriteOnce = Callable[[WriteRequest, Values], Written]


@dataclass(frozen=True, slots=True)
class _Key:
    """How the stored document is found: the statements that read it, test it under a policy, and lock it."""

    stored: Callable[[RowPolicy | None], Sql]
    tests: Sql
    lock: Sql


_BY_ALIAS = _Key(policy_statements.stored_by_alias, TESTS_BY_ALIAS, _statement("lock_by_alias"))
_BY_UUID = _Key(policy_statements.stored_by_uuid, TESTS_BY_UUID, _statement("lock_by_uuid"))


@dataclass(frozen=True, slots=True)
class _RefusedMerge(IneffectiveWrite):
    """A write of what was merged with the `version` that `stored` reads; None for a new document."""

    stored: Sql
    version: int | None

    def refuse(self, outcome: Outcome) -> None:
        """Refuse as a write without a merge does. What is refused for members that the client did not send, such as a
        reference whose target has another key since, is stale.
        """
        rows = execute(self.stored, self.request.using)
        if self.version == (rows[0][1] if rows else None):
            super(_RefusedMerge, self).refuse(outcome)


def upsert(request: MergeRequest, new_id: UUID | None = None) -> Written:
    """Do what `store.upsert` does; a new document may get a given id. Raises also what the merge does, after the
    refusals of the stored document.
    """
    return _Merge(request, new_id or uuid7(), _BY_ALIAS, _upsert_once).carry_out()


def _upsert_once(merged: WriteRequest, values: Values) -> Written:
    return Written.of(execute(policy_statements.upsert(merged.policy).bound_to(values), merged.using))


def update(request: MergeRequest, document_uuid: UUID, validators: DocumentValidators) -> Written:
    """Do what `store.update` does. Raises also what the merge does, after the refusals of the stored document."""
    return _Merge(request, document_uuid, _BY_UUID, partial(replace_once, validators=validators)).carry_out()


class _Merge:
    """A request that is carried out. Attempts without effect return None, and are repeated."""

    def __init__(self, request: MergeRequest, document_uuid: UUID, key: _Key, write_once: _WriteOnce) -> None:
        self._request, self._document_uuid, self._key, self._write_once = request, document_uuid, key, write_once
        self._found_by = request.key(document_uuid)
        self._stored = key.stored(request.policy).bound_to(self._found_by)

    def carry_out(self) -> Written:
        """Merge and write, as often as it takes."""
        using = self._request.using
        written = run_with_retries(self._attempt, lambda: holding(self._key.lock.bound_to(self._found_by), using))
        record_writer(self._request.client, using)
        return written

    def _attempt(self) -> Written | None:
        request = self._request
        with nullcontext() if request.check is None else transaction.atomic(request.using):
            rows = execute(self._stored, request.using)
            if not rows:
                return self._write_new()
            body, version, is_allowed = rows[0]
            if is_allowed:
                refuse_unreadable_version(request, self._key.tests, self._found_by)
                return self._write(json_text.loads(body), version)
            if request.policy is not None:
                # Returns if the reason of the denial no longer exists.
                DeniedRequest(request.policy, self._key.tests, self._found_by, request.using).explain_using()
            return None

    def _write_new(self) -> Written | None:
        if self._key is _BY_UUID:
            request = self._request
            raise NothingToMatch if request.condition.needs_a_document else DocumentNotFound(request.pending.resource)
        return self._write(None, None)

    def _write(self, stored_body: dict[str, Any] | None, version: int | None) -> Written | None:
        """Write what follows from the stored body, if that still has this version."""
        request = self._request
        if request.policy is None:
            # With a policy, the authorization of the new values is reported before a failed condition.
            request.condition.expected_version(version)
        merged = request.write(stored_body)
        expected = NO_DOCUMENT if version is None else version
        values = merged.values(self._document_uuid) | {"expected_version": expected}
        refused = _RefusedMerge(merged, self._key.tests, values, self._stored, version)
        return effect_of(lambda: self._write_checked(merged, values, stored_body, version), refused)

    def _write_checked(
        self, merged: WriteRequest, values: Values, stored_body: dict[str, Any] | None, version: int | None
    ) -> Written:
        request = self._request
        request.condition.expected_version(version)
        if request.check is not None:
            if _has_missing_targets(merged):
                return Written(Outcome.MISSING_TARGET)
            request.check(merged.document, stored_body)
        return self._write_once(merged, values)


def _has_missing_targets(request: WriteRequest) -> bool:
    """Return whether the document refers to one that does not exist, so that the write will be refused for that."""
    missing = missing_targets(request.document.targets, request.using)
    return not missing.issubset(request.document.identity.aliases)
