"""What follows from the outcome of a write, or from the constraint that refused it: a result, another attempt, or the
exception that `problem_details.catalog` words.

The statement or the constraint has decided; the queries here only find out what to report. When a document refers to
missing ones, the foreign key refuses it (`outcome_of`), `unresolved_reference` finds all of them, and
`IneffectiveWrite` raises the exception; for sets of documents `sets/conflicts.py` does so. A denial by the policy is
reported before other errors, but for errors of the values themselves (descriptors that do not exist, a key that cannot
change): these come after a denial of the stored document, and before one of the new values. See
meadowlark/docs/reference/contract.md#order-of-checks.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn
from uuid import UUID

from django.db import IntegrityError, connections
from psycopg import errors

from edfi_api.core.documents.document_validator import ValidatedDocument
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.violations import as_many_as_reported
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.prepared_statements import Row
from edfi_api.core.storage.driver.sql import Sql, statements_of
from edfi_api.core.storage.exceptions import (
    DocumentNotFound,
    IdentityConflict,
    KeyChangeContradicts,
    KeyChangeNotSupported,
)
from edfi_api.core.storage.row_policy import Clause, Explanation, MayRead, RowPolicy
from edfi_api.core.storage.stored import Outcome, Written
from edfi_api.core.storage.write_requests import CONDITION_FAILURES, DeleteRequest, Terms, Values, WriteRequest
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import JsonPath, ResourceName
from references.descriptor_uri import comparable
from references.exceptions import DependentItemExists, Referrer, UnresolvedReference
from references.identity import descriptor_natural_key, referential_id
from references.models import Alias

_REFERRERS_NAMED = 10
# So many referrers are read of each type, of which the oldest are named; and of one whose oldest ones the caller may
# not read all of these, to find one that it may.
_REFERRERS_LOOKED_AT = 1_000
# The ids are one array parameter: the ORM binds each id separately, which takes longer than the query itself.
_STORED = "SELECT referential_id FROM alias WHERE referential_id = ANY (%s)"
_DEPENDENTS = statements_of(__file__)("dependents")

# A document cannot refer to an alias that does not exist, and no two documents have the same alias.
_OUTCOMES = {"reference_alias_fk": Outcome.MISSING_TARGET, "alias_pkey": Outcome.TAKEN}

_DONE = frozenset({Outcome.INSERTED, Outcome.UPDATED, Outcome.UNCHANGED, Outcome.DELETED})
# Refusals that an attempt raises itself, and which others may precede.
_RAISED = (*CONDITION_FAILURES, DataValidationFailed, IdentityConflict, KeyChangeContradicts)

_statement = statements_of(__file__)

# Statements that select the document of a request, with a slot for a policy's tests of it.
TESTS_BY_ALIAS = _statement("tests_by_alias")
TESTS_BY_UUID = _statement("tests_by_uuid")
TESTS_OF_STORED = _statement("tests_of_stored")
_TESTS_OF_VALUES = _statement("tests_of_values")


def outcome_of(violation: IntegrityError) -> Outcome:
    """The outcome of a write that a constraint has refused; all other constraints only fail for concurrent writes."""
    cause = violation.__cause__
    constraint = cause.diag.constraint_name if isinstance(cause, errors.Error) else None
    return _OUTCOMES.get(constraint or "", Outcome.STALE)


def effect_of(attempt: Callable[[], Written], refused: "IneffectiveWrite | RefusedDelete") -> Written | None:
    """The result of an attempt that has had an effect, None if it has to be repeated. Raises its refusal."""
    try:
        written = attempt()
    except IntegrityError as violation:
        written = Written(outcome_of(violation))
    except _RAISED as refusal:
        refused.refuse_for(refusal)
    if written.outcome in _DONE:
        return written
    refused.refuse(written.outcome)
    return None


@dataclass(frozen=True, slots=True)
class IneffectiveWrite:
    """A write that had no effect. `find` is the statement that finds its document by the `values`."""

    request: WriteRequest
    find: Sql
    values: Values

    def refuse(self, outcome: Outcome) -> None:
        """Raise the exception for an outcome; returns if its reason no longer exists, so that the write is retried."""
        if outcome is Outcome.STALE:
            return
        if outcome is Outcome.NOT_FOUND:
            raise DocumentNotFound(self.request.document.resource)
        unresolved = unresolved_reference(self.request.document, self.request.using)
        refusal = self._refusal(outcome, unresolved)
        if refusal or outcome is Outcome.DENIED:
            self._raise_if_denied(unresolved)
        if refusal:
            raise refusal

    def refuse_for(self, refusal: Exception) -> NoReturn:
        """Raise this refusal, or one that is reported before it."""
        unresolved = unresolved_reference(self.request.document, self.request.using)
        if isinstance(refusal, KeyChangeContradicts):
            # Errors of the document itself are reported before those of its referrers.
            refusal = unresolved or _of_readable(refusal, self.request)
        self._raise_if_denied(unresolved)
        raise refusal

    def _refusal(self, outcome: Outcome, unresolved: UnresolvedReference | None) -> Exception | None:
        document = self.request.document
        match outcome:
            case Outcome.MISSING_TARGET:
                return unresolved
            case Outcome.TAKEN:
                return unresolved or _taken_by_another_subclass(document, self.request.using)
            case Outcome.OTHER_IDENTITY:
                return unresolved if unresolved and unresolved.descriptors else KeyChangeNotSupported(document.resource)
        return None

    def _raise_if_denied(self, unresolved: UnresolvedReference | None) -> None:
        request = self.request
        if request.policy is not None:
            denied = DeniedRequest(request.policy, self.find, self.values, request.using)
            denied.explain(request.document, unresolved)


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
        referrers = _referrers(request)
        if not referrers:
            return
        target, named = referrers[0].target, [each.as_named() for each in referrers[:_REFERRERS_NAMED]]
        resources = sorted({name.resource for name in _readable_types(referrers, request)})
        is_readable = request.may_read is not None and request.may_read({target: request.resource.name})
        path = f"{request.resource.url_path}/{request.document_uuid}" if is_readable else ""
        raise DependentItemExists(target, resources, named, path)


def _taken_by_another_subclass(document: ValidatedDocument, using: str) -> IdentityConflict | None:
    identity = document.identity
    aliases = Alias.objects.using(using)
    owners = dict(aliases.filter(pk__in=identity.aliases).values_list("referential_id", "document_id"))
    if identity.superclass_id in owners and identity.referential_id not in owners:
        return IdentityConflict(document.resource, identity.elements, is_new=True)
    return None


def _of_readable(refusal: KeyChangeContradicts, request: WriteRequest) -> KeyChangeContradicts:
    """The refusal, without what tells of a referrer that the caller may not read: the violations have its values."""
    if request.may_read and not request.may_read({refusal.row: refusal.resource.name}):
        return replace(refusal, natural_key="", violations=[])
    return refusal


class _Found(NamedTuple):
    """A document that refers to another; the rows of both."""

    target: int
    row: int
    project: str
    resource: str
    document_uuid: UUID
    natural_key: str

    @property
    def name(self) -> ResourceName:
        return ResourceName(self.project, self.resource)

    def as_named(self) -> Referrer:
        return Referrer(*self[2:])


def _referrers(
    request: DeleteRequest, *, most: int = _REFERRERS_NAMED, types: Set[ResourceName] = frozenset()
) -> list[_Found]:
    """The oldest referrers of the document, except itself, as far as they are looked at: so many of each type, or of
    each of these types."""
    statement = _DEPENDENTS.fill(of_types=" AND t.id = ANY (%(types)s::smallint[])" if types else "")
    if types:
        numbers = resource_types.numbers(request.using)
        statement = statement.with_values(types=[numbers[name] for name in types])
    bounds = {"named": most, "looked_at": _REFERRERS_LOOKED_AT}
    rows = execute(statement.with_values(document_uuid=request.document_uuid, **bounds), request.using)
    return list(dict.fromkeys(_Found(*row) for row in rows))


def _readable_types(referrers: list[_Found], request: DeleteRequest) -> Set[ResourceName]:
    """The types of which the caller may read one of the referrers that are looked at; all for the server itself."""
    found = {each.name for each in referrers}
    if request.may_read is None:
        return found
    counts = Counter(each.name for each in referrers)
    readable = _types_of(referrers, request.may_read)
    longer = {name for name in found - readable if counts[name] >= _REFERRERS_NAMED}
    if longer:
        readable |= _types_of(_referrers(request, most=_REFERRERS_LOOKED_AT, types=longer), request.may_read)
    return readable


def _types_of(referrers: list[_Found], may_read: MayRead) -> set[ResourceName]:
    rows = may_read({each.row: each.name for each in referrers})
    return {each.name for each in referrers if each.row in rows}


def unresolved_reference(document: ValidatedDocument, using: str) -> UnresolvedReference | None:
    """The references of a document that do not resolve; None if all do."""
    wanted = {each.referential_id for each in document.sent_references}
    missing = missing_targets(wanted, using) - set(document.identity.aliases)
    return unresolved(document, missing, lambda uris: uris_of_any_type(uris, using)) if missing else None


def missing_targets(ids: Iterable[UUID], using: str) -> set[UUID]:
    """Return those of the referential ids that belong to no stored document."""
    wanted = set(ids)
    return wanted - _stored(wanted, using) if wanted else wanted


def _stored(ids: Iterable[UUID], using: str) -> set[UUID]:
    """Return those of the referential ids that belong to a stored document."""
    with connections[using].cursor() as cursor:
        cursor.execute(_STORED, [list(ids)])
        return {found for (found,) in cursor}


def unresolved(
    document: ValidatedDocument, missing: Set[UUID], stored: Callable[[Set[str]], Set[str]]
) -> UnresolvedReference:
    """The references, and descriptors in reference keys, whose target is among the `missing` ids; at most as many as
    are reported. `stored` returns which of some URIs belong to a stored descriptor of any type."""
    references = [reference for reference in document.sent_references if reference.referential_id in missing]
    documents = as_many_as_reported(reference for reference in references if reference.value is None)
    descriptors = as_many_as_reported(reference for reference in references if reference.value is not None)
    of_another_type = stored({reference.value for reference in descriptors if reference.value})
    return UnresolvedReference(
        documents=[reference.as_missing() for reference in documents],
        descriptors=[reference.as_missing(reference.value in of_another_type) for reference in descriptors],
        ids=frozenset([reference.referential_id for reference in references]),
    )


def uris_of_any_type(uris: Set[str], using: str) -> Set[str]:
    """Return which of these URIs belong to a stored descriptor of any type; one query."""
    if not uris:
        return set()
    names = [name for name in resource_types.numbers(using) if is_descriptor_name(name.resource)]
    keys = {uri: descriptor_natural_key(comparable(uri)) for uri in uris}
    ids = {referential_id(name.project, name.resource, key): uri for uri, key in keys.items() for name in names}
    return {ids[found] for found in _stored(ids, using)}


@dataclass(frozen=True, slots=True)
class DeniedRequest:
    """A request for one document that its policy denies, or may deny. `find` is the `TESTS_...` statement that selects
    the document by the `values` of the request."""

    policy: RowPolicy
    find: Sql
    values: Values
    using: str

    def explain_using(self) -> bool | None:
        """Raise the refusal for the stored document, if there is one. Returns whether the document keeps its identity;
        None if it does not exist."""
        explanation = self.policy.explanation(Clause.USING)
        rows = self._test(self.find, explanation)
        if not rows:
            return None
        is_same_identity, *results = rows[0]
        if refusal := explanation.refuse(results, frozenset()):
            raise refusal
        return bool(is_same_identity)

    def explain(self, document: ValidatedDocument, unresolved: UnresolvedReference | None) -> None:
        """Raise the refusal for a write, if there is one; `unresolved` has its references that do not resolve."""
        is_same_identity = self.explain_using()
        if is_same_identity is None and self.find is TESTS_BY_UUID:
            return  # The document does not exist.
        if unresolved and unresolved.descriptors:
            raise unresolved
        if is_same_identity is False and not document.resource.allows_identity_updates:
            raise KeyChangeNotSupported(document.resource)
        explanation = self.policy.explanation(Clause.WITH_CHECK_NEW if is_same_identity is None else Clause.WITH_CHECK)
        ((_, *results),) = self._test(_TESTS_OF_VALUES, explanation)
        if refusal := explanation.refuse(results, _unresolved_paths(document, self.using)):
            raise refusal

    def _test(self, statement: Sql, explanation: Explanation) -> list[Row]:
        tests = Sql.join("", (", " + test for test in explanation.tests))
        return execute(statement.fill(tests=tests).bound_to(self.values), self.using)


def refuse_unreadable_version(terms: Terms, find: Sql, values: Values) -> None:
    """Raise the refusal to read the document of a request whose condition names versions, before the condition tells
    which one it has. `find` and `values` are as in `DeniedRequest`."""
    policy, read_policy = terms.policy, terms.read_policy
    # Where the policies are equal, that of the write refuses.
    if read_policy is not None and (policy is None or policy.using != read_policy.using):
        DeniedRequest(read_policy, find, values, terms.using).explain_using()


def _unresolved_paths(document: ValidatedDocument, using: str) -> frozenset[JsonPath]:
    """The paths of references whose targets do not exist; a document may refer to itself."""
    missing = missing_targets(document.targets, using) - set(document.identity.aliases)
    return frozenset(JsonPath(each.steps) for each in document.references if each.referential_id in missing)
