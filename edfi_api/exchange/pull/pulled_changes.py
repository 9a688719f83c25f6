"""Takes over key changes and deletes of a source. Its documents are found here by their keys.

A key that cannot be changed here, or to one that another document has, is a delete of the old document: the new one is
among the documents of the window. What the window has brought is not deleted, whatever the source lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from edfi_api.documents import json_text
from edfi_api.documents.incoming import Preparers
from edfi_api.exchange.mapping import DescriptorMapping
from edfi_api.exchange.pull.client_writer import CLIENT_REFUSALS, ClientRights
from edfi_api.exchange.pull.outcomes import DueDelete, Outcomes
from edfi_api.model.surface.resource import JsonPath, Resource
from edfi_api.security.claim_names import Action
from edfi_api.security.exceptions import UNAUTHORIZABLE
from edfi_api.storage import descriptor_casing, store
from edfi_api.storage.driver.exceptions import TooMuchContention
from edfi_api.storage.exceptions import DocumentNotFound, IdentityConflict, KeyChangeContradicts, KeyChangeNotSupported
from edfi_api.storage.requests import DeleteRequest, WriteRequest
from edfi_api.storage.row_policy import NO_CONDITIONS, RowPolicy
from edfi_api.storage.sets.writing import delete_unreferenced
from edfi_api.storage.stored import referential_ids, stored_versions
from references.exceptions import DependentItemExists

_AS_DELETE: tuple[type[Exception], ...] = (
    *CLIENT_REFUSALS,
    KeyChangeNotSupported,
    IdentityConflict,
    KeyChangeContradicts,
)
_REFUSALS_OF_DELETE: tuple[type[Exception], ...] = (*CLIENT_REFUSALS, DependentItemExists, TooMuchContention)


@dataclass(slots=True)
class PulledChanges:
    """The key changes and deletes of one window."""

    rights: ClientRights
    preparers: Preparers
    mapping: DescriptorMapping
    using: str
    outcomes: Outcomes
    _due: list[DueDelete] = field(default_factory=list)

    def change_keys(self, resource: Resource, listed: Sequence[Mapping[str, Any]]) -> None:
        """Give documents that have an old key here their new one, and all that refer to them."""
        for each in listed:
            old, new = (self._key(resource, each.get(name)) for name in ("oldKeyValues", "newKeyValues"))
            if not old or not new:
                self.outcomes.unreadable(resource, str(each.get("id")))
                continue
            old_id, new_id = self._id_of(resource, old), self._id_of(resource, new)
            if old_id is None or new_id is None or old_id == new_id:
                continue
            stored = stored_versions([old_id, new_id], self.using)
            if old_id not in stored:
                continue
            due = DueDelete(resource, str(each.get("id")), stored[old_id].document_uuid)
            if new_id in stored:
                self._due.append(due)
            else:
                self._change_key(due, new)

    def delete_listed(self, resource: Resource, listed: Sequence[Mapping[str, Any]]) -> None:
        """Delete what is here and was not brought by this window."""
        wanted: dict[UUID, str] = {}
        for each in listed:
            id_ = self._id_of(resource, self._key(resource, each.get("keyValues")))
            if id_ is None:
                self.outcomes.unreadable(resource, str(each.get("id")))
            elif not self.outcomes.has_brought(id_):
                wanted[id_] = str(each.get("id"))
        stored = stored_versions(wanted, self.using)
        self.delete_all(DueDelete(resource, wanted[id_], found.document_uuid) for id_, found in stored.items())

    def delete_all(self, due: Iterable[DueDelete]) -> None:
        """Of one resource. What others refer to waits for `repeat`."""
        deletes = list(due)
        if not deletes:
            return
        resource = deletes[0].resource
        try:
            policy = self.rights.of(resource, Action.DELETE)
        except UNAUTHORIZABLE as refusal:
            for each in deletes:
                self.outcomes.refused_delete(each, refusal)
            return
        done = self._deleted_together(resource, [each.document_uuid for each in deletes], policy)
        self.outcomes.deleted(done)
        self._due += [each for each in deletes if each.document_uuid not in done]

    def repeat(self) -> None:
        """Try what is left as long as something is deleted; what still is left then is refused."""
        left, refusals = self._due, dict[UUID, Exception]()
        while left:
            before, left = left, []
            keys = referential_ids([each.document_uuid for each in before], self.using)
            for each in before:
                # By the keys that it has now: it may have got another one meanwhile.
                if any(map(self.outcomes.has_brought, keys.get(each.document_uuid, ()))):
                    continue
                if (refusal := self._refusal_of_delete(each)) is not None:
                    refusals[each.document_uuid] = refusal
                    left.append(each)
            if len(left) == len(before):
                break
        for each in left:
            self.outcomes.refused_delete(each, refusals[each.document_uuid])
        self._due = []

    def _deleted_together(self, resource: Resource, ids: list[UUID], policy: RowPolicy | None) -> set[UUID]:
        conditions = NO_CONDITIONS if policy is None else policy.for_sets()
        if conditions is None:
            return set()
        return delete_unreferenced(resource, ids, conditions, self.using, self.rights.client.row_id)

    def _refusal_of_delete(self, due: DueDelete) -> Exception | None:
        """None if it is gone."""
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
        self.outcomes.deleted([due.document_uuid])
        return None

    def _change_key(self, due: DueDelete, new: Mapping[JsonPath, Any]) -> None:
        resource = due.resource
        stored = store.get(resource, due.document_uuid, using=self.using)
        if stored is None:
            return
        body = json_text.loads(stored.text)
        for path, value in new.items():
            _put(body, path, value)
        try:
            incoming = self.preparers[resource.name].prepare(
                body, partial(descriptor_casing.stored_uris, using=self.using)
            )
            request = WriteRequest(
                incoming,
                client=self.rights.client.row_id,
                policy=self.rights.of(resource, Action.UPDATE),
                may_read=self.rights.may_read,
                using=self.using,
            )
            store.update(request, due.document_uuid, self.preparers)
        except DocumentNotFound:
            return
        except _AS_DELETE:
            self._due.append(due)
        else:
            self.outcomes.changed_key()

    def _key(self, resource: Resource, values: Any) -> dict[JsonPath, Any]:
        """The values of a key by the paths of the identity; empty if some are missing."""
        if not isinstance(values, dict):
            return {}
        here = dict(values)
        self.mapping.to_here(here)
        given = {name.lower(): value for name, value in here.items()}
        found = dict[JsonPath, Any]()
        for path, names in _names_of(resource):
            value = next((given[name] for name in names if given.get(name) is not None), None)
            if value is None:
                return {}
            found[path] = value
        return found

    def _id_of(self, resource: Resource, key: Mapping[JsonPath, Any]) -> UUID | None:
        if not key:
            return None
        body: dict[str, Any] = {}
        for path, value in key.items():
            _put(body, path, value)
        return next(iter(self.preparers[resource.name].aliases_of_refused(body)), None)


def _names_of(resource: Resource) -> Iterator[tuple[JsonPath, list[str]]]:
    """The paths of the identity, each with the names of its query fields in lower case."""
    for path in resource.identity:
        yield path, [each.name.lower() for each in resource.query_fields if path in each.paths]


def _put(body: dict[str, Any], path: JsonPath, value: Any) -> None:
    *way, last = path.steps
    for step in way:
        body = body.setdefault(step, {})
    body[last] = value
