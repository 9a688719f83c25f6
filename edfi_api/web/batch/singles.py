"""An operation as the single request that does the same: by the same functions (`edfi_api.core.writes.writing`), so
with the same checks in the same order, the same effects and the same refusals."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from django.db import ProgrammingError
from uuid_utils.compat import uuid7

from edfi_api.common import addresses
from edfi_api.common.conf import api_settings
from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.documents.extraction import DocumentIdentity, StoredUris
from edfi_api.core.documents.violations import Leniency, Tolerated
from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.exceptions import UNAUTHORIZABLE
from edfi_api.core.security.requests.authorization import ACTIONS, Authorization, authorize, refusal_behind, row_policy
from edfi_api.core.storage import descriptor_uri_cache
from edfi_api.core.storage.stored import Outcome, stored_versions
from edfi_api.core.storage.write_requests import UNCONDITIONAL, WriteCondition
from edfi_api.core.writes import writing as writes
from edfi_api.core.writes.rules.configured import rules_of
from edfi_api.core.writes.rules.enforcing import WriteCheck
from edfi_api.core.writes.rules.ruled_write import WritingClient
from edfi_api.core.writes.writing import WritableResource, Write, WrittenDocument
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.web.batch.operations import Attempt, Kind, Operation, Result
from edfi_api.web.problem_details.catalog import SYSTEM_ERROR
from edfi_api.web.problem_details.catalog.ods import RefusedAttempt, answered_problem
from edfi_api.web.problem_details.exception_handler import correlation_id
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.viewsets.edfi_view import EdFiRequest
from edfi_api.web.viewsets.ods_representation import shown_id
from edfi_api.web.viewsets.recorded_writes import data_store_of
from edfi_api.web.viewsets.requests import requested_leniency
from edfi_api.web.viewsets.responses import location, quoted, tag_of
from edfi_api.web.viewsets.router import ServedSurface

_log = logging.getLogger(__name__)

# Raises what the permission classes of the settings refuse of an action on a resource.
CheckPermissions = Callable[[str, Resource], None]


class WritableResources:
    """The resources of a surface for operations, each made at its first one."""

    def __init__(self, served: ServedSurface) -> None:
        self.served = served
        self._made: dict[ResourceName, WritableResource] = {}

    def __getitem__(self, resource: Resource) -> WritableResource:
        if resource.name not in self._made:
            self._made[resource.name] = self.served.writable(resource)
        return self._made[resource.name]


class TransactionUris:
    """The URIs of stored descriptors within one transaction: its writes may be rolled back, so nothing is kept."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._known: dict[UUID, str] = {}

    def __call__(self, ids: Iterable[UUID]) -> dict[UUID, str]:
        wanted = list(ids)
        if unknown := [id_ for id_ in wanted if id_ not in self._known]:
            self._known |= descriptor_uri_cache.read_uris(unknown, self._using)
        return {id_: self._known[id_] for id_ in wanted if id_ in self._known}

    def forget(self) -> None:
        """Forget what is kept of descriptors. To be called when some have been written or deleted."""
        self._known.clear()


class Singles:
    """Carries out operations of one batch one at a time; `request` is that of the batch."""

    def __init__(
        self,
        request: EdFiRequest,
        resources: WritableResources,
        using: str,
        stored_uris: StoredUris,
        check_permissions: CheckPermissions,
        *,
        is_atomic: bool,
    ) -> None:
        self.using = using
        self.stored_uris = stored_uris
        self._is_strict = requested_leniency(request._request).is_strict
        self.user = request.user
        self.client: int = request.user.row_id
        self.data_store = data_store_of(request)
        self.has_profiles = bool(request.user.profile_ids)
        self.correlation_id = correlation_id(request._request)
        # Versions that an atomic batch has written for a client with profiles. Whether they are new says whether what
        # was sent equals what the client may not see: conditions in a batch that is made to fail would find it out.
        self.hidden_versions: set[int] = set()
        # How many documents were found unchanged.
        self.unchanged = 0
        self._hides_versions = is_atomic and self.has_profiles
        self._request = request
        self._resources = resources
        self.surface = resources.served.surface
        self.validators = resources.served.validators
        self._check_permissions = check_permissions

    def leniency(self) -> Leniency:
        """Return how an operation is handled: as the batch is."""
        return Leniency(self._is_strict, any_case=api_settings.MEMBERS_IN_ANY_CASE)

    def attempted(self, operation: Operation) -> Attempt:
        """Return what the single request would be answered, and the reason of a refusal. Every failure is a result."""
        leniency, reason = self.leniency(), None
        try:
            if operation.refusal is not None:
                raise operation.refusal
            result = self._carry_out(operation, leniency)
        except Exception as error:  # A bug refuses one operation, as it refuses one request.
            reason = self._reason(operation, error)
            result = self.refused(operation, reason)
        result.tolerated = tolerated_in(leniency)
        return result, reason

    def refused(self, operation: Operation, error: Exception) -> Result:
        """The result of an operation that was refused for this reason."""
        problem = answered_problem(error, attempt_of(operation))
        if problem is None:
            _log.error("operation %s failed", operation.position, exc_info=error)
            problem = SYSTEM_ERROR
        body = problem.body(self.correlation_id)
        return Result(operation, problem.status, problem=body, is_temporary=problem.status == 503)

    def written(self, operation: Operation, written: WrittenDocument) -> Result:
        """The result of an operation whose document was written."""
        resource, id_ = _resource(operation), written.document_uuid
        is_unchanged = written.outcome is Outcome.UNCHANGED
        self.unchanged += is_unchanged
        if self._hides_versions:
            self.hidden_versions.add(written.change_version)
        status = 204 if operation.kind is Kind.UPDATE else 201 if written.outcome is Outcome.INSERTED else 200
        address = location(self._request._request, addresses.DATA, resource, shown_id(id_))
        etag = quoted(tag_of(written.change_version, written.part))
        return Result(
            operation,
            status,
            id_,
            address,
            etag,
            written.change_version,
            warnings=written.warnings,
            is_unchanged=is_unchanged,
        )

    def authorization(self, operation: Operation) -> Authorization:
        """Return what the client may do. Raises what the single request would be refused with, and, of an operation by
        natural key, what a read would be, since it finds its document by reading."""
        action, resource = _action(operation), _resource(operation)
        self._check_permissions(action, resource)
        found = authorize(self.user, resource, ACTIONS[action], self.surface, self.using)
        if operation.key is not None:
            found.read_policy()
        return found

    def validator(self, resource: Resource) -> DocumentValidator:
        return self.validators[resource.name]

    def check(self, resource: Resource) -> WriteCheck | None:
        """Custom rules for a document of the resource; None if there are none."""
        rules = rules_of(resource)
        if rules is None:
            return None
        client = self.user
        return WriteCheck(rules, WritingClient(client.key, client.education_organization_ids))

    def identity(self, operation: Operation) -> DocumentIdentity:
        """The identity that is the natural key of the operation."""
        assert operation.key is not None  # noqa: S101  Callers look before.
        return self.validator(_resource(operation)).extractor.identity(operation.key)

    def _carry_out(self, operation: Operation, leniency: Leniency) -> Result:
        write, may_do = self.write(operation, leniency), partial(self.authorization, operation)
        match operation.kind:
            case Kind.DELETE:
                if not writes.delete(write, may_do):
                    raise ResourceNotFound
                return Result(operation, 204, id=str(write.document_uuid))
            case Kind.UPDATE:
                return self.written(operation, writes.update(write, may_do))
        return self.written(operation, writes.upsert(write, may_do))

    def write(self, operation: Operation, leniency: Leniency) -> Write:
        """Return what the single request would be decoded to."""
        document, uuid = operation.document, operation.document_uuid
        if operation.key is not None and uuid is None:
            uuid = self._stored_uuid(operation)
            if uuid is None:
                # The id is that of a document that does not exist, whatever the id in the document is.
                uuid = uuid7()
                document = document and {name: value for name, value in document.items() if name.lower() != "id"}
        return Write(
            resource=self._resources[_resource(operation)],
            client=self.user,
            using=self.using,
            stored_uris=self.stored_uris,
            document=document,
            document_uuid=uuid,
            content_type=operation.profile,
            condition=self._condition(operation),
            leniency=leniency,
            may_omit_id=True,
        )

    def _condition(self, operation: Operation) -> WriteCondition:
        """Return the condition of the operation; versions that `hidden_versions` has match nothing."""
        condition = operation.condition
        if condition is UNCONDITIONAL or not self.hidden_versions:
            return condition
        return replace(condition, unusable=self.hidden_versions)

    def _stored_uuid(self, operation: Operation) -> UUID | None:
        """The id of the document that has the natural key of the operation; None without one that the client may read:
        whether there is another one is not said."""
        resource, surface = _resource(operation), self.surface
        try:
            policy = row_policy(self.user, resource, Action.READ, surface, self.using)
        except UNAUTHORIZABLE:
            return None
        id_ = self.identity(operation).referential_id
        found = stored_versions([id_], self.using, policy).get(id_)
        return None if found is None else found.document_uuid

    def _reason(self, operation: Operation, error: Exception) -> Exception:
        """Return the reason of a refusal as `AuthorizedView.handle_exception` finds it."""
        if isinstance(error, ProgrammingError) and operation.resource is not None and operation.kind is not None:
            action, surface = ACTIONS[operation.kind.action], self.surface
            return refusal_behind(self.user, operation.resource, action, surface, self.using) or error
        return error


def tolerated_in(leniency: Leniency) -> Sequence[Tolerated]:
    """Return what is reported as tolerated; strict handling refuses it."""
    return () if leniency.is_strict else leniency.tolerated


def attempt_of(operation: Operation) -> RefusedAttempt:
    """The single request that the operation would be."""
    is_item = operation.kind in (Kind.UPDATE, Kind.DELETE)
    method = "POST" if not is_item else "PUT" if operation.kind is Kind.UPDATE else "DELETE"
    return RefusedAttempt(operation.resource, method, is_item)


def _resource(operation: Operation) -> Resource:
    assert operation.resource is not None  # noqa: S101  Without one there is a refusal.
    return operation.resource


def _action(operation: Operation) -> str:
    assert operation.kind is not None  # noqa: S101  Without one there is a refusal.
    return operation.kind.action
