"""Writes batches with the rights of an API client: under the policy of its claim set, and no one else's documents.

What the client may not write is refused as a request of its would be. A document that is here already as it comes
stays as it is, whoever owns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, cast

from psycopg import Cursor
from psycopg.rows import TupleRow

from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.exceptions import AUTHORIZATION_REFUSALS, UNAUTHORIZABLE
from edfi_api.core.security.requests.authorization import readable_rows, row_policy, upsert_policy
from edfi_api.core.security.strategies.ownership import OWNERSHIP_BASED
from edfi_api.core.storage import resource_types, store
from edfi_api.core.storage.row_policy import NO_CONDITIONS, RowPolicy, SetConditions
from edfi_api.core.storage.sets import REFUSALS, Refusal
from edfi_api.core.storage.sets.conflicts import Conflicts, Resolve, resolve
from edfi_api.core.storage.sets.staging import adopt, one_transaction, under_conditions, write_staged
from edfi_api.core.storage.stored import Outcome
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.core.writes.rules.ruled_write import WritingClient
from edfi_api.features.loading.bulk import Candidate
from edfi_api.features.loading.bulk.dry_run import AcceptedDocuments, DryRun
from edfi_api.features.loading.bulk.preparation import Batch, Prepared, are_descriptors
from edfi_api.features.loading.bulk.writing import BatchWriter, Results
from edfi_api.model.surface.resource import Resource, ResourceName, Surface

# The refusals of a client's write.
CLIENT_REFUSALS: tuple[type[Exception], ...] = (*REFUSALS, *UNAUTHORIZABLE, *AUTHORIZATION_REFUSALS)


class ClientRights:
    """The rights of a client in one database; with `adopts` also to documents that it does not own."""

    def __init__(self, client: AuthenticatedClient, surface: Surface, using: str, *, adopts: bool) -> None:
        self.client = client
        self.adopts = adopts
        self.may_read = partial(readable_rows, client, surface, using)
        self._surface = surface
        self._using = using
        self._further = () if adopts else (OWNERSHIP_BASED,)
        self._upserts: dict[ResourceName, RowPolicy | Exception | None] = {}

    def upsert(self, resource: Resource) -> RowPolicy | None:
        """The policy of writes. Raises UNAUTHORIZABLE."""
        if resource.name not in self._upserts:
            try:
                policy = upsert_policy(self.client, resource, self._surface, self._using, further=self._further)
            except UNAUTHORIZABLE as refusal:
                self._upserts[resource.name] = refusal
            else:
                self._upserts[resource.name] = policy
        found = self._upserts[resource.name]
        if isinstance(found, Exception):
            raise found
        return found

    def denied(self, batch: Batch) -> dict[ResourceName, Exception]:
        """The resources of which the client may write no document at all."""
        denied: dict[ResourceName, Exception] = {}
        for resource in _resources(batch):
            try:
                self.upsert(resource)
            except UNAUTHORIZABLE as refusal:
                denied[resource.name] = refusal
        return denied

    def of(self, resource: Resource, action: Action) -> RowPolicy | None:
        """The policy of another action. Raises UNAUTHORIZABLE."""
        return row_policy(self.client, resource, action, self._surface, self._using, further=self._further)


class ClientWriter(BatchWriter):
    """Writes batches as `BatchWriter` does, for a client."""

    def __init__(self, using: str, rights: ClientRights) -> None:
        super().__init__(using, rights.client.row_id)
        self.writing_client = WritingClient(rights.client.key, rights.client.education_organization_ids)
        self._rights = rights

    def write(self, batch: Batch, prepared: Prepared, resolve: Resolve = resolve) -> Results:
        refused = _refused(batch, self._rights.denied(batch))
        if len(refused) == len(batch):
            return {**refused, **prepared.refusals}
        return super().write(batch, prepared, resolve)

    def _write_staged(
        self, cursor: Cursor[TupleRow], batch: Batch, prepared: Prepared, resolve: Resolve
    ) -> tuple[Conflicts, dict[int, Outcome]]:
        conditions = self._conditions(batch)
        if conditions is None:
            return Conflicts(), {}
        client = self._rights.client.row_id
        statement = under_conditions(conditions, keeps_keys=are_descriptors(batch))
        found = write_staged(cursor, prepared.lines, prepared.aliases, resolve, client, statement=statement)
        if self._rights.adopts:
            adopt(cursor, (prepared.aliases[position][0] for position in found[1]), client)
        return found

    def _write_alone(self, candidate: Candidate[Any]) -> Outcome | Refusal:
        try:
            request = WriteRequest(
                self._validated(candidate),
                client=self._rights.client.row_id,
                policy=self._rights.upsert(candidate.resource),
                may_read=self._rights.may_read,
                using=self._using,
            )
            outcome = store.upsert(request).outcome
        except CLIENT_REFUSALS as error:
            return cast(Refusal, error)
        if self._rights.adopts:
            with one_transaction(self._using) as cursor:
                adopt(cursor, [request.document.identity.referential_id.bytes], self._rights.client.row_id)
        return outcome

    def _conditions(self, batch: Batch) -> SetConditions | None:
        """Return the conditions, or None if the documents have to be written one after the other."""
        numbers = resource_types.numbers(self._using)
        denied, found = self._rights.denied(batch), dict[int, SetConditions]()
        for resource in _resources(batch):
            if resource.name in denied:
                continue
            policy = self._rights.upsert(resource)
            conditions = NO_CONDITIONS if policy is None else policy.for_sets()
            if conditions is None:
                return None
            found[numbers[resource.name]] = conditions
        if len(found) == 1 and not denied:
            return next(iter(found.values()))
        return SetConditions.by_resource_type(found)


class ClientDryRun(DryRun):
    """Refuses resources of which the client may write no document. Its other rights depend on what would be written
    before, and are not asked."""

    def __init__(self, using: str, rights: ClientRights, accepted: AcceptedDocuments) -> None:
        super().__init__(using, accepted)
        self._rights = rights

    def write(self, batch: Batch, prepared: Prepared, resolve: Resolve = resolve) -> Results:
        return super().write(batch, prepared.without(_refused(batch, self._rights.denied(batch))), resolve)


def _resources(batch: Batch) -> Iterable[Resource]:
    return {candidate.resource.name: candidate.resource for candidate in batch}.values()


def _refused(batch: Batch, denied: Mapping[ResourceName, Exception]) -> dict[int, Refusal]:
    return {
        position: cast(Refusal, denied[candidate.resource.name])
        for position, candidate in enumerate(batch)
        if candidate.resource.name in denied
    }
