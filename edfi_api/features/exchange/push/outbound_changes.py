"""Changes → outbound changes: what has to be sent of the documents that have changed, each once.

Changes of one document that wait together are sent once, as it is after the last of them. A segment ends before a
document that takes an identity which another one has had within it: only then would it matter that deletes are sent
last.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from uuid import UUID

from edfi_api.core.documents.document_validator import DocumentValidator, DocumentValidators
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.paths import put_value, values_at
from edfi_api.core.served import current_surface
from edfi_api.features.changes.change_stream.documents import Change, Operation
from edfi_api.model.surface.resource import Resource

KeyValues = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OutboundChange:
    """A document as it is to be there: `body` is None if it is to be deleted, and `last_body` its last one, None if
    that is not known any more. `former_keys` are key values that it has had before in the same changes."""

    resource: Resource
    document_uuid: UUID
    body: dict[str, Any] | None
    last_body: dict[str, Any] | None
    former_keys: tuple[KeyValues, ...] = ()
    # The referential ids of the document, and of what it refers to.
    identities: frozenset[UUID] = frozenset()
    targets: frozenset[UUID] = field(default=frozenset(), repr=False)

    @property
    def is_delete(self) -> bool:
        return self.body is None

    @property
    def key_values(self) -> KeyValues | None:
        """Return the values by the names of query parameters; None if the body is not known."""
        return None if self.last_body is None else key_values(self.resource, self.last_body)

    @property
    def with_id(self) -> tuple[Resource, UUID]:
        return self.resource, self.document_uuid


def upsert(resource: Resource, document_uuid: UUID, body: dict[str, Any]) -> OutboundChange:
    """A document that is to be there as this body."""
    identities, targets = _links(resource, body)
    return OutboundChange(resource, document_uuid, body, body, (), identities, targets)


def delete(resource: Resource, document_uuid: UUID, last_body: dict[str, Any] | None) -> OutboundChange:
    """A document that is not to be there."""
    identities, targets = (frozenset[UUID](), frozenset[UUID]()) if last_body is None else _links(resource, last_body)
    return OutboundChange(resource, document_uuid, None, last_body, (), identities, targets)


def segments(changes: Iterable[Change]) -> Iterator[list[OutboundChange]]:
    """Yield the outbound changes of changes in their order. Resources that are not served any more have none."""
    segment = _Segment()
    for change in changes:
        resource = current_surface().resource_at(change.resource)
        if resource is None:
            continue
        outbound = _outbound_change(resource, change)
        if segment.ends_before(outbound):
            yield segment.outbound_changes
            segment = _Segment()
        segment.add(outbound, change)
    if segment.outbound_changes:
        yield segment.outbound_changes


class _Segment:
    def __init__(self) -> None:
        self._by_document: dict[UUID, OutboundChange] = {}
        self._given_up: dict[UUID, UUID] = {}
        # Deletes of which is not known what they have deleted.
        self._unknown: set[UUID] = set()

    @property
    def outbound_changes(self) -> list[OutboundChange]:
        return list(self._by_document.values())

    def ends_before(self, outbound: OutboundChange) -> bool:
        """Return whether another document has had an identity of this one; True if that is not known."""
        if self._unknown:
            return not outbound.is_delete
        owners = (self._given_up.get(identity, outbound.document_uuid) for identity in outbound.identities)
        return any(owner != outbound.document_uuid for owner in owners)

    def add(self, outbound: OutboundChange, change: Change) -> None:
        earlier = self._by_document.pop(outbound.document_uuid, None)
        former = former_identity(outbound, change)
        keys = earlier.former_keys if earlier else ()
        if former:
            keys = (*keys, former[0])
        self._given_up |= dict.fromkeys(former[1] if former else (), outbound.document_uuid)
        if outbound.is_delete:
            self._given_up |= dict.fromkeys(outbound.identities, outbound.document_uuid)
        self._unknown.discard(outbound.document_uuid)
        if outbound.is_delete and outbound.last_body is None:
            self._unknown.add(outbound.document_uuid)
        self._by_document[outbound.document_uuid] = replace(outbound, former_keys=keys)


def _outbound_change(resource: Resource, change: Change) -> OutboundChange:
    if change.operation is Operation.DELETE:
        return delete(resource, change.document_uuid, change.body)
    return upsert(resource, change.document_uuid, change.body or {})


def former_identity(outbound: OutboundChange, change: Change) -> tuple[KeyValues, frozenset[UUID]] | None:
    """The key values and the referential ids that a document had before its key was changed."""
    if change.old_key_values is None or outbound.last_body is None:
        return None
    body = deepcopy(outbound.last_body)
    for query_field, _ in outbound.resource.key_fields:
        for path in query_field.paths:
            if path in outbound.resource.identity and query_field.name in change.old_key_values:
                put_value(body, path.steps, change.old_key_values[query_field.name])
    return change.old_key_values, _links(outbound.resource, body)[0]


def key_values(resource: Resource, body: dict[str, Any]) -> KeyValues:
    """The key of a body by the names of query parameters, as change queries name it."""
    found = {each.name: values_at(body, path.steps) for each, path in resource.key_fields}
    return {name: values[0][1] for name, values in found.items() if values}


def validator_of(resource: Resource) -> DocumentValidator:
    """The resource's own, compiled once."""
    return _validators()[resource.name]


@cache
def _validators() -> DocumentValidators:
    return DocumentValidators(current_surface())


def _links(resource: Resource, body: dict[str, Any]) -> tuple[frozenset[UUID], frozenset[UUID]]:
    """Return what a stored body is, and what it refers to; nothing for one that another data standard has left."""
    extractor = validator_of(resource).extractor
    try:
        targets = frozenset(reference.referential_id for reference in extractor.references(body))
        return frozenset(extractor.identity(body).aliases), targets
    except (DataValidationFailed, KeyError):
        return frozenset(), frozenset()
