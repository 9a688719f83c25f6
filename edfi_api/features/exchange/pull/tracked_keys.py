"""Reads the keys that a source lists with deletes and key changes: by the names of query fields, without references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from decimal import Decimal
from typing import Any
from uuid import UUID

from edfi_api.core.documents import violations
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.paths import put_value, values_at
from edfi_api.features.exchange.remote_api import plain_id
from edfi_api.features.exchange.resource_selection import DescriptorMapping
from edfi_api.model.surface.resource import ReferencePath, Resource, Surface

# The part of a body that is its key.
KeyBody = dict[str, Any]
# The new key of a document that had this referential id; None if it keeps it.
NewKey = Callable[[Resource, UUID], KeyBody | None]


class TrackedKeys:
    """The keys of a surface, in the words of a connection."""

    def __init__(self, surface: Surface, validators: DocumentValidators, mapping: DescriptorMapping) -> None:
        self._surface = surface
        self._validators = validators
        self._mapping = mapping

    def read(self, resource: Resource, listed: Any) -> KeyBody:
        """Return the key in listed values. Raises DataValidationFailed with the paths of which nothing is listed."""
        values = dict(listed) if isinstance(listed, dict) else {}
        self._mapping.replace_theirs(values)
        given = {name.lower(): value for name, value in values.items() if is_scalar(value)}
        key: KeyBody = {}
        for field, paths in resource.key_places:
            if (value := given.get(field.name.lower())) is not None:
                for path in paths:
                    put_value(key, path.steps, value)
        missing = [path for path in resource.identity if not values_at(key, path.steps)]
        if missing:
            raise DataValidationFailed([violations.required(str(path)) for path in missing])
        return key

    def id_of(self, resource: Resource, key: KeyBody) -> UUID:
        """Return the referential id of a key. Raises DataValidationFailed for what cannot be one."""
        found = self._validators[resource.name].aliases_of_refused(key)
        if not found:
            raise DataValidationFailed([violations.required(str(path)) for path in resource.identity])
        return found[0]

    def with_moved_parents(self, resource: Resource, key: KeyBody, new_key: NewKey) -> KeyBody | None:
        """The key with the new keys of what it refers to, at any depth; None if none of these has changed."""
        moved: KeyBody | None = None
        for reference in resource.references:
            target = self._surface.by_name.get(reference.target)
            if not reference.is_identity or target is None:
                continue
            parent = _parent(key, reference)
            if parent is None:
                continue
            changed = new_key(target, self.id_of(target, parent))
            changed = changed or self.with_moved_parents(target, parent, new_key)
            if changed is not None:
                moved = moved if moved is not None else deepcopy(key)
                for pair in reference.identity:
                    for _, value in values_at(changed, pair.there.steps):
                        put_value(moved, pair.here.steps, value)
        return moved


def remote_id_of(listed: Mapping[str, Any], id_: UUID) -> str:
    """The id there; for a change that has none, one that no other document has."""
    return plain_id(listed.get("id")) or f"?{id_}"


def is_scalar(value: Any) -> bool:
    """Return whether it can be the value of a key."""
    return isinstance(value, str | int | float | Decimal)


def put_key(body: dict[str, Any], resource: Resource, key: KeyBody) -> None:
    """Give a body this key."""
    for path in resource.identity:
        for _, value in values_at(key, path.steps):
            put_value(body, path.steps, value)


def _parent(key: Mapping[str, Any], reference: ReferencePath) -> KeyBody | None:
    """The key of the target of a reference."""
    parent: KeyBody = {}
    for pair in reference.identity:
        found = values_at(key, pair.here.steps)
        if not found:
            return None
        put_value(parent, pair.there.steps, found[0][1])
    return parent
