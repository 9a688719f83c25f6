"""Turns the outcome of a write, or the constraint that refused it, into the exception that `problem_details.catalog`
words.

The statement or the constraint has decided; the queries here only find out what to report. If a write has several
errors, that of the policy is reported first. See meadowlark/docs/reference/contract.md#order-of-checks.
"""

from dataclasses import dataclass, replace
from typing import NoReturn
from uuid import UUID

from django.db import IntegrityError
from psycopg import errors

from edfi_api.documents.incoming import IncomingDocument
from edfi_api.storage.denial import TESTS_OF_STORED, DeniedRequest
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.driver.sql_files import statements_beside
from edfi_api.storage.exceptions import DocumentNotFound, IdentityConflict, KeyChangeContradicts, KeyChangeNotSupported
from edfi_api.storage.requests import DeleteRequest, Values, WriteRequest
from edfi_api.storage.stored import Outcome
from edfi_api.storage.unresolved import unresolved_reference
from references.exceptions import DependentItemExists, Referrer, UnresolvedReference
from references.models import Alias

_REFERRERS_NAMED = 10
_DEPENDENTS = statements_beside(__file__)("dependents").with_values(named=_REFERRERS_NAMED)

# A document cannot refer to an alias that does not exist, and no two documents have the same alias.
_OUTCOMES = {"reference_alias_fk": Outcome.MISSING_TARGET, "alias_pkey": Outcome.TAKEN}


def outcome_of(violation: IntegrityError) -> Outcome:
    """The outcome of a write that a constraint has refused; all other constraints only fail for concurrent writes."""
    cause = violation.__cause__
    constraint = cause.diag.constraint_name if isinstance(cause, errors.Error) else None
    return _OUTCOMES.get(constraint or "", Outcome.STALE)


@dataclass(frozen=True, slots=True)
class IneffectiveWrite:
    """A write that had no effect. `find` is the statement of `denial` that finds its document by the `values`."""

    request: WriteRequest
    find: Sql
    values: Values

    def refuse(self, outcome: Outcome) -> None:
        """Raise the exception for an outcome; returns if its reason no longer exists, so that the write is retried."""
        if outcome is Outcome.STALE:
            return
        if outcome is Outcome.NOT_FOUND:
            raise DocumentNotFound(self.request.incoming.resource)
        unresolved = unresolved_reference(self.request.incoming, self.request.using)
        refusal = self._refusal(outcome, unresolved)
        if refusal or outcome is Outcome.DENIED:
            self._raise_if_denied(unresolved)
        if refusal:
            raise refusal

    def refuse_for(self, refusal: Exception) -> NoReturn:
        """Raise this refusal, or one that is reported before it."""
        unresolved = unresolved_reference(self.request.incoming, self.request.using)
        if isinstance(refusal, KeyChangeContradicts):
            # Errors of the document itself are reported before those of its referrers.
            refusal = unresolved or _of_readable(refusal, self.request)
        self._raise_if_denied(unresolved)
        raise refusal

    def _refusal(self, outcome: Outcome, unresolved: UnresolvedReference | None) -> Exception | None:
        incoming = self.request.incoming
        match outcome:
            case Outcome.MISSING_TARGET:
                return unresolved
            case Outcome.TAKEN:
                return unresolved or _taken_by_another_subclass(incoming, self.request.using)
            case Outcome.OTHER_IDENTITY:
                return unresolved if unresolved and unresolved.descriptors else KeyChangeNotSupported(incoming.resource)
        return None

    def _raise_if_denied(self, unresolved: UnresolvedReference | None) -> None:
        request = self.request
        if request.policy is not None:
            denied = DeniedRequest(request.policy, self.find, self.values, request.using)
            denied.explain(request.incoming, unresolved)


@dataclass(frozen=True, slots=True)
class RefusedDelete:
    """A delete that had no effect. The `values` find its document."""

    request: DeleteRequest
    values: Values

    def refuse(self, outcome: Outcome) -> None:
        """Raise the exception for an outcome; returns if its reason no longer exists, so that the delete is retried."""
        match outcome:
            case Outcome.NOT_FOUND:
                raise DocumentNotFound(self.request.resource)
            case Outcome.DENIED:
                self._raise_if_denied()
            case Outcome.MISSING_TARGET:
                self._raise_if_referenced()

    def refuse_for(self, refusal: Exception) -> NoReturn:
        """Raise this refusal, or one that is reported before it."""
        self._raise_if_denied()
        raise refusal

    def _raise_if_denied(self) -> None:
        request = self.request
        if request.policy is not None:
            DeniedRequest(request.policy, TESTS_OF_STORED, self.values, request.using).explain_using()

    def _raise_if_referenced(self) -> None:
        request = self.request
        if dependents := _dependents(request.document_uuid, request.using):
            is_readable = request.may_read is not None and request.may_read({dependents.row: request.resource.name})
            path = f"{request.resource.url_path}/{request.document_uuid}" if is_readable else ""
            raise replace(dependents, path=path)


def _taken_by_another_subclass(incoming: IncomingDocument, using: str) -> IdentityConflict | None:
    identity = incoming.identity
    aliases = Alias.objects.using(using)
    owners = dict(aliases.filter(pk__in=identity.aliases).values_list("referential_id", "document_id"))
    if identity.superclass_id in owners and identity.referential_id not in owners:
        return IdentityConflict(incoming.resource, identity.elements, is_new=True)
    return None


def _of_readable(refusal: KeyChangeContradicts, request: WriteRequest) -> KeyChangeContradicts:
    """The refusal, without the natural key of a referrer that the caller may not read."""
    if request.may_read and not request.may_read({refusal.row: refusal.resource.name}):
        return replace(refusal, natural_key="")
    return refusal


def _dependents(document_uuid: UUID, using: str) -> DependentItemExists | None:
    """The referrers of the document with this id, except itself; None if there are none."""
    rows = execute(_DEPENDENTS.with_values(document_uuid=document_uuid), using)
    if not rows:
        return None
    referrers = list(dict.fromkeys(Referrer(*referrer) for _, *referrer in rows))
    resources = sorted({each.resource for each in referrers})
    return DependentItemExists(rows[0][0], resources, referrers[:_REFERRERS_NAMED])
