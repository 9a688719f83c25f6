"""Takes over deletes of a source, and of what it has given keys that it cannot have here. Its documents are found here
by their keys. What the window has brought is not deleted, whatever the source lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.exceptions import UNAUTHORIZABLE
from edfi_api.core.storage import store
from edfi_api.core.storage.driver.execution import TooMuchContention
from edfi_api.core.storage.row_policy import NO_CONDITIONS, RowPolicy
from edfi_api.core.storage.sets.writing import delete_unreferenced
from edfi_api.core.storage.stored import referential_ids, stored_versions
from edfi_api.core.storage.write_requests import DeleteRequest
from edfi_api.features.exchange.pull.client_writer import CLIENT_REFUSALS, ClientRights
from edfi_api.features.exchange.pull.key_changes import KeyChanges
from edfi_api.features.exchange.pull.outcomes import DueDelete, Outcomes
from edfi_api.features.exchange.pull.tracked_keys import TrackedKeys, remote_id_of
from edfi_api.features.exchange.remote_api import plain_id
from edfi_api.model.surface.resource import Resource
from references.exceptions import DependentItemExists

_REFUSALS_OF_DELETE: tuple[type[Exception], ...] = (*CLIENT_REFUSALS, DependentItemExists, TooMuchContention)


@dataclass(slots=True)
class PulledChanges:
    """The deletes of one window; `moved` are its key changes, if it has any."""

    rights: ClientRights
    keys: TrackedKeys
    using: str
    outcomes: Outcomes
    moved: KeyChanges | None = None
    _due: list[DueDelete] = field(default_factory=list)

    def delete_instead(self, due: Iterable[DueDelete]) -> None:
        """Take documents that could not get the keys that they have there: `repeat` deletes them."""
        self._due += due

    def delete_listed(self, resource: Resource, listed: Sequence[Mapping[str, Any]]) -> None:
        """Delete what is here and was not brought by this window."""
        pinned = dict[UUID, str]()
        wanted = dict[UUID, str]()
        for each in listed:
            remote_id = plain_id(each.get("id"))
            if self.moved and remote_id and (document := self.moved.memory.pinned(resource, remote_id)):
                pinned[document] = remote_id
                continue
            try:
                key = self.keys.read(resource, each.get("keyValues"))
                ids = self.moved.candidates(resource, key) if self.moved else [self.keys.id_of(resource, key)]
            except DataValidationFailed as refusal:
                self.outcomes.record_unreadable(resource, "delete", each, refusal)
                continue
            wanted.update((id_, remote_id_of(each, ids[0])) for id_ in ids if not self.outcomes.has_brought(id_))
        stored = stored_versions(wanted, self.using)
        found = {
            each.document_uuid: wanted[id_]
            for id_, each in stored.items()
            if self.moved is None or self.moved.memory.owner(each.document_uuid) is None
        }
        keys = referential_ids(pinned, self.using)
        left = {uuid for uuid, ids in keys.items() if not any(map(self.outcomes.has_brought, ids))}
        due = found | {uuid: remote_id for uuid, remote_id in pinned.items() if uuid in left}
        self.delete_all(DueDelete(resource, remote_id, document) for document, remote_id in due.items())

    def delete_replaced(self) -> None:
        """Delete what has given way to documents that have its key there."""
        if self.moved is not None:
            self._due += [DueDelete(resource, str(uuid), uuid) for resource, uuid in self.moved.replaced()]

    def delete_all(self, due: Iterable[DueDelete]) -> None:
        """Delete documents of one resource. What others refer to waits for `repeat`."""
        deletes = list(due)
        if not deletes:
            return
        resource = deletes[0].resource
        try:
            policy = self.rights.of(resource, Action.DELETE)
        except UNAUTHORIZABLE as refusal:
            for each in deletes:
                self.outcomes.record_refused_delete(each, refusal)
            return
        done = self._deleted_together(resource, [each.document_uuid for each in deletes], policy)
        self.outcomes.count_deleted(done)
        self._due += [each for each in deletes if each.document_uuid not in done]

    def repeat(self) -> None:
        """Try what is left as long as something is deleted; what still is left then is refused."""
        left, refusals = self._due, dict[UUID, Exception]()
        while left:
            before, left = left, []
            keys = referential_ids([each.document_uuid for each in before], self.using)
            for each in before:
                # It is looked for by the keys that it has now: it may have got another one in the meantime.
                if any(map(self.outcomes.has_brought, keys.get(each.document_uuid, ()))):
                    continue
                if (refusal := self._delete(each)) is not None:
                    refusals[each.document_uuid] = refusal
                    left.append(each)
            if len(left) == len(before):
                break
        for each in left:
            self.outcomes.record_refused_delete(each, refusals[each.document_uuid])
        self._due = []

    def _deleted_together(self, resource: Resource, ids: list[UUID], policy: RowPolicy | None) -> set[UUID]:
        conditions = NO_CONDITIONS if policy is None else policy.for_sets()
        if conditions is None:
            return set()
        return delete_unreferenced(resource, ids, conditions, self.using, self.rights.client.row_id)

    def _delete(self, due: DueDelete) -> Exception | None:
        """Delete a document, and return the refusal; None if it is gone."""
        try:
            store.delete(
                DeleteRequest(
                    resource=due.resource,
                    document_uuid=due.document_uuid,
                    client=self.rights.client.row_id,
                    policy=self.rights.of(due.resource, Action.DELETE),
                    may_read=self.rights.may_read,
                    using=self.using,
                )
            )
        except _REFUSALS_OF_DELETE as refusal:
            return refusal
        self.outcomes.count_deleted([due.document_uuid])
        return None
