"""Prepares writes that a view narrows: the visible part of what was sent, and its merge with the stored body.

Hidden members of a sent body are dropped before anything looks at them: whatever they hold is neither checked nor
stored nor an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from edfi_api.documents.descriptor_values import StoredUris
from edfi_api.documents.exceptions import DataValidationFailed
from edfi_api.documents.incoming import IncomingDocument, Preparer
from edfi_api.documents.merging import CannotBeCreated, ContradictsHiddenItem, compile_merge
from edfi_api.documents.violations import Violation
from edfi_api.documents.visible_part import hidden_items, is_visible_path, writable_schema
from edfi_api.model.profiles.members import ResourceMembers
from edfi_api.model.profiles.view import ObjectView

Body = dict[str, Any]


@dataclass
class HiddenItemsSent(Exception):
    """Items were sent that a filter of the view hides; their concrete `paths`."""

    paths: list[str]


class ContradictsHidden(Exception):
    """What is hidden does not go together with what was sent."""


class MergePreparer:
    """Prepares the bodies of one resource for writes under one view."""

    def __init__(self, full: Preparer, members: ResourceMembers, view: ObjectView) -> None:
        self._full = full
        self._view = view
        self._visible = _VisiblePreparer(full, view)
        self._merge = compile_merge(view, members.root, members.identity)

    def valid_new(self, sent: Body) -> Body:
        """The visible part of a body for an upsert. Raises HiddenItemsSent and what `Preparer.prepare_new` raises."""
        return self._visible.valid_new(sent)

    def valid_replacement(self, sent: Body, document_uuid: UUID) -> Body:
        """The same for an update. Raises HiddenItemsSent and what `Preparer.prepare_replacement` raises."""
        return self._visible.valid_replacement(sent, document_uuid)

    def merged(self, stored: Body | None, visible: Body, stored_uris: StoredUris) -> IncomingDocument:
        """What is to be stored: the visible part over the stored body, or alone if there is none.

        Raises CannotBeCreated; ContradictsHidden if the result is invalid for what is hidden, and DataValidationFailed
        if for visible members alone. What was invalid at hidden places of the stored body already does not count.
        """
        try:
            body = self._merge(stored, visible)
        except ContradictsHiddenItem as error:
            raise ContradictsHidden from error
        self._check(body, stored)
        return self._full.incoming(body, stored_uris)

    def _check(self, body: Body, stored: Body | None) -> None:
        found = self._violations(body)
        if not found:
            return
        if all(self._is_visible(violation) for violation in found):
            raise DataValidationFailed(found)
        known = set() if stored is None else {(_steps(each), each.message) for each in self._violations(stored)}
        if any(self._is_visible(each) or (_steps(each), each.message) not in known for each in found):
            raise ContradictsHidden

    def _violations(self, body: Mapping[str, Any]) -> list[Violation]:
        try:
            self._full.check(dict(body))
        except DataValidationFailed as failed:
            return failed.violations
        return []

    def _is_visible(self, violation: Violation) -> bool:
        return is_visible_path(list(_steps(violation)), self._view)


class _VisiblePreparer(Preparer):
    """A preparer over the visible part of the schema: coercion drops what the schema does not have."""

    def __init__(self, full: Preparer, view: ObjectView) -> None:
        super().__init__(replace(full.resource, json_schema=writable_schema(full.resource.json_schema, view)))
        self._view = view

    def validate_schema(self, body: Body, already_found: list[Violation]) -> None:
        super().validate_schema(body, already_found)
        if paths := list(hidden_items(body, self._view)):
            raise HiddenItemsSent(paths)


def _steps(violation: Violation) -> tuple[str, ...]:
    """`$.addresses[1].city` as `("addresses", "city")`."""
    return tuple(step.partition("[")[0] for step in violation.path.split(".")[1:])


__all__ = ["CannotBeCreated", "ContradictsHidden", "HiddenItemsSent", "MergePreparer"]
