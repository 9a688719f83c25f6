"""Prepares writes that a view narrows: the visible part of what was sent, and its merge with the stored body.

Hidden members of a sent body are dropped before anything else is done: whatever they hold is neither checked nor
stored nor an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from uuid import UUID

from edfi_api.core.documents.body_reader import ReadBody
from edfi_api.core.documents.exceptions import (
    ContradictsHidden,
    DataValidationFailed,
    DocumentTooLarge,
    HiddenItemsSent,
)
from edfi_api.core.documents.extraction import DocumentReference, Extractor, StoredUris
from edfi_api.core.documents.incoming import IncomingDocument, PendingDocument, Preparer
from edfi_api.core.documents.leniency import Leniency
from edfi_api.core.documents.merging import compile_merge
from edfi_api.core.documents.violations import Violation
from edfi_api.core.documents.visible_part import (
    hidden_items,
    is_visible_path,
    keep_emptied,
    without_indexes,
    writable_schema,
)
from edfi_api.model.profiles.members import ResourceMembers
from edfi_api.model.profiles.view import ObjectView

Body = dict[str, Any]


class MergePreparer:
    """Prepares the bodies of one resource for writes under one view."""

    def __init__(self, full: Preparer, members: ResourceMembers, view: ObjectView) -> None:
        self._full = full
        self._view = view
        self._visible = _VisiblePreparer(full, view)
        self._merge = compile_merge(view, members.root, members.identity)

    def prepare_new(self, sent: Body, stored_uris: StoredUris, leniency: Leniency | None = None) -> PendingDocument:
        """The visible part of a body for an upsert. Raises HiddenItemsSent and what `Preparer.valid_new` raises."""
        return self._pending(self._visible.valid_new(sent, leniency), stored_uris)

    def prepare_replacement(
        self, sent: Body, document_uuid: UUID, stored_uris: StoredUris, leniency: Leniency | None = None
    ) -> PendingDocument:
        """Prepare an update, as `prepare_new` does a new document. Raises HiddenItemsSent and what
        `Preparer.valid_replacement` raises.
        """
        return self._pending(self._visible.valid_replacement(sent, document_uuid, leniency), stored_uris)

    def _pending(self, visible: Body, stored_uris: StoredUris) -> PendingDocument:
        identity = self._full.extractor.identity(visible)
        return PendingDocument(self._full.resource, identity, lambda stored: self._merged(stored, visible, stored_uris))

    def _merged(self, stored: Body | None, visible: Body, stored_uris: StoredUris) -> IncomingDocument:
        """What is to be stored: the visible part over the stored body, or alone if there is none.

        Raises CannotBeCreated; ContradictsHidden if the result is invalid for what is hidden, and DataValidationFailed
        if for visible members alone. What was invalid at hidden places of the stored body already does not count.
        """
        body = self._merge(stored, visible)
        self._check(body, stored, visible)
        try:
            merged = self._full.incoming(body, stored_uris)
        except (DataValidationFailed, DocumentTooLarge) as error:
            self._full.incoming(visible, stored_uris)  # Raises what is wrong with it alone, at its own places.
            raise ContradictsHidden from error
        return MergedDocument.of(merged, visible, self._full.extractor)

    def _check(self, body: Body, stored: Body | None, visible: Body) -> None:
        found = self._violations(body)
        if not found:
            return
        # What the visible part breaks by itself, with its places as sent: only what its own schema does not require.
        own = {_rule(each): each for each in self._violations(visible) if self._is_visible(each)}
        known = {_rule(each) for each in self._violations(stored or {}) if not self._is_visible(each)}
        if any(_rule(each) not in own and _rule(each) not in known for each in found):
            raise ContradictsHidden
        if reported := [own[rule] for rule in dict.fromkeys(map(_rule, found)) if rule in own]:
            raise DataValidationFailed(reported)

    def _violations(self, body: Mapping[str, Any]) -> list[Violation]:
        try:
            self._full.check(dict(body))
        except DataValidationFailed as failed:
            return failed.violations
        return []

    def _is_visible(self, violation: Violation) -> bool:
        return is_visible_path(without_indexes(violation.path), self._view)


@dataclass(frozen=True, slots=True)
class MergedDocument(IncomingDocument):
    """A document of which the client sent the `visible` part alone: errors name places in it."""

    visible: Body
    extractor: Extractor

    @classmethod
    def of(cls, merged: IncomingDocument, visible: Body, extractor: Extractor) -> "MergedDocument":
        """The merged document with the part that was sent."""
        whole = {each.name: getattr(merged, each.name) for each in fields(IncomingDocument)}
        return cls(**whole, visible=visible, extractor=extractor)

    @property
    def sent_references(self) -> Sequence[DocumentReference]:
        return (*self.extractor.references(self.visible), *self.extractor.key_descriptors(self.visible))


class _VisiblePreparer(Preparer):
    """A preparer over the visible part of the schema: coercion drops what the schema does not have."""

    def __init__(self, full: Preparer, view: ObjectView) -> None:
        schema = full.resource.json_schema
        super().__init__(replace(full.resource, json_schema=writable_schema(schema, view)), full.is_like_ods, schema)
        self._view = view

    def _read(self, sent: Body, leniency: Leniency | None) -> ReadBody:
        read = super()._read(sent, leniency)
        keep_emptied(read.sent, read.body, self._view)
        return read

    def validate_schema(self, body: Body, already_found: list[Violation]) -> None:
        super().validate_schema(body, already_found)
        if paths := list(hidden_items(body, self._view)):
            raise HiddenItemsSent(paths)


def _rule(violation: Violation) -> tuple[tuple[str, ...], str]:
    """What is broken, wherever in arrays."""
    return without_indexes(violation.path), violation.message
