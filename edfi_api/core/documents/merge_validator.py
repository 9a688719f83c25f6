"""Validates writes that a view narrows: the visible part of what was sent, and its merge with the stored body.

Hidden members of a sent body are dropped before anything else is done: whatever they hold is neither checked nor
stored nor an error.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any
from uuid import UUID

from edfi_api.core.documents.body_reader import ReadBody
from edfi_api.core.documents.document_validator import DocumentValidator, PendingDocument, ValidatedDocument
from edfi_api.core.documents.exceptions import (
    CannotBeCreated,
    ContradictsHidden,
    DataValidationFailed,
    DocumentTooLarge,
    HiddenItemsSent,
)
from edfi_api.core.documents.extraction import DocumentReference, Extractor, StoredUris
from edfi_api.core.documents.paths import identifying_value
from edfi_api.core.documents.violations import Leniency, Violation
from edfi_api.core.documents.visible_part import (
    hidden_items,
    is_visible,
    is_visible_path,
    keep_emptied,
    without_indexes,
    writable_schema,
)
from edfi_api.model.profiles.view import (
    CollectionView,
    ItemFilter,
    Members,
    ObjectView,
    ProfileMember,
    ResourceMembers,
    hidden_required_members,
)
from edfi_api.model.surface.naming import EXTENSIONS

# Compiled once per view. What is hidden never changes, except with a visible object or item that is removed together
# with all that is in it.

Body = dict[str, Any]
# Stored value, or None without one, and sent value, or None without one → merged value; None for no value.
_Merge = Callable[[Any, Any], Any]
# The identifying values of an item, and a number if it has none.
_ItemKey = tuple[tuple[Any, ...], int]
_NO_NAMES: frozenset[str] = frozenset()


def compile_merge(view: ObjectView, members: Members, identity: frozenset[str]) -> Callable[[Body | None, Body], Body]:
    """The function of the stored body, None for a new document, and the visible part of the sent one.

    It raises CannotBeCreated and ContradictsHidden, and leaves its arguments unchanged.
    """
    merge_object = _ObjectMerge(view, members, identity)

    def merge(stored: Body | None, sent: Body) -> Body:
        return merge_object(stored, sent) or {}

    return merge


class _ObjectMerge:
    """Merges an object member by member."""

    def __init__(self, view: ObjectView, members: Members, always: frozenset[str] = _NO_NAMES) -> None:
        self._view = view
        self._hidden_required = hidden_required_members(view, members, always)
        self._narrowed: dict[str, _Merge] = {
            name: _compiled(each, members.by_name[name]) for name, each in view.narrowed.items()
        }
        self._extensions = {
            key: _ObjectMerge(each, members.extensions[key]) for key, each in view.narrowed_extensions.items()
        }

    def __call__(self, stored: Body | None, sent: Body | None) -> Body | None:
        if stored is None:
            return None if sent is None else self._created(sent)
        if sent is None and not stored:
            return stored
        merged = {**self._visible(stored, sent or {}), **self._hidden(stored)}
        extensions = self._merged_extensions(stored.get(EXTENSIONS), (sent or {}).get(EXTENSIONS))
        if extensions:
            merged[EXTENSIONS] = extensions
        return merged if merged or sent is not None else None

    def _created(self, sent: Body) -> Body:
        # An object of which nothing is left was sent with hidden members alone.
        if self._hidden_required or not sent:
            raise CannotBeCreated
        created = self._visible({}, sent)
        if extensions := self._merged_extensions(None, sent.get(EXTENSIONS)):
            created[EXTENSIONS] = extensions
        return created

    def _visible(self, stored: Body, sent: Body) -> Body:
        merged = {name: value for name, value in sent.items() if name in self._view.whole}
        for name, merge in self._narrowed.items():
            value = merge(stored.get(name), sent.get(name))
            if value is not None:
                merged[name] = value
        return merged

    def _hidden(self, stored: Body) -> Body:
        shows = self._view.shows
        return {name: value for name, value in stored.items() if name != EXTENSIONS and not shows(name)}

    def _merged_extensions(self, stored: Body | None, sent: Body | None) -> Body:
        stored, sent = stored or {}, sent or {}
        merged = {key: added for key, added in sent.items() if key in self._view.whole_extensions}
        for key, merge in self._extensions.items():
            added = merge(stored.get(key), sent.get(key))
            if added is not None:
                merged[key] = added
        named = self._view.whole_extensions | self._extensions.keys()
        return {**merged, **{key: added for key, added in stored.items() if key not in named}}


def _compiled(view: ObjectView | CollectionView, member: ProfileMember) -> _Merge:
    members = member.members or Members({})
    if isinstance(view, ObjectView):
        return _ObjectMerge(view, members)
    items = None if view.items is None else _ObjectMerge(view.items, members)
    return _CollectionMerge(items, view.filter, [path.steps for path in member.item_key])


@dataclass(frozen=True, slots=True)
class _CollectionMerge:
    """Merges the items of a collection: by their keys, at the places of the visible stored ones."""

    items: _ObjectMerge | None
    filter: ItemFilter | None
    key: Sequence[tuple[str, ...]]

    def __call__(self, stored: list[Any] | None, sent: list[Any] | None) -> list[Any] | None:
        if not stored and sent is None:
            return stored
        kept = stored or []
        are_visible = [is_visible(item, self.filter) for item in kept]
        new = self._merged_items(kept, are_visible, sent or [])
        merged = list(_in_places(kept, are_visible, new))
        return merged if merged or sent is not None else None

    def _merged_items(self, stored: list[Any], are_visible: list[bool], sent: list[Any]) -> list[Any]:
        if not self.key:
            return [self._merged_item(None, item) for item in sent]
        keys = self._keys(sent)
        visible = self._by_key(item for item, is_shown in zip(stored, are_visible, strict=True) if is_shown)
        hidden = self._by_key(item for item, is_shown in zip(stored, are_visible, strict=True) if not is_shown)
        if any(key in hidden and not _is_missing(key) for key in keys):
            raise ContradictsHidden
        return [self._merged_item(visible.get(key), item) for key, item in zip(keys, sent, strict=True)]

    def _merged_item(self, stored: Body | None, sent: Body) -> Body:
        if self.items is None:
            return sent
        return self.items(stored, sent) or {}

    def _by_key(self, items: Iterable[Any]) -> Mapping[_ItemKey, Any]:
        kept = list(items)
        return dict(zip(self._keys(kept), kept, strict=True))

    def _keys(self, items: Iterable[Mapping[str, Any]]) -> list[_ItemKey]:
        """The key of each item, and 0; items may lack all of its values, which are numbered instead."""
        found = [tuple(identifying_value(item, steps) for steps in self.key) for item in items]
        numbers = count(1)
        return [(key, next(numbers) if all(value is None for value in key) else 0) for key in found]


def _is_missing(key: _ItemKey) -> bool:
    return key[1] > 0


def _in_places(stored: list[Any], are_visible: list[bool], new: list[Any]) -> Iterator[Any]:
    """The new items at the places of the visible stored ones, the hidden ones where they are.

    If there are fewer new items than places, the later places close up; further ones follow the last visible place.
    """
    last = max((position for position, is_shown in enumerate(are_visible) if is_shown), default=len(stored) - 1)
    waiting = iter(new)
    for position, (item, is_shown) in enumerate(zip(stored, are_visible, strict=True)):
        if is_shown:
            yield from _next(waiting)
        else:
            yield item
        if position == last:
            yield from waiting
    yield from waiting


def _next(items: Iterator[Any]) -> Iterator[Any]:
    for item in items:
        yield item
        return


class MergeValidator:
    """Validates the bodies of one resource for writes under one view."""

    def __init__(self, full: DocumentValidator, members: ResourceMembers, view: ObjectView) -> None:
        self._full = full
        self._view = view
        self._visible = _VisibleValidator(full, view)
        self._merge = compile_merge(view, members.root, members.identity)

    def validate_new(self, sent: Body, stored_uris: StoredUris, leniency: Leniency | None = None) -> PendingDocument:
        """The visible part of a body for an upsert. Raises HiddenItemsSent and what
        `DocumentValidator.valid_new` raises."""
        return self._pending(self._visible.valid_new(sent, leniency), stored_uris)

    def validate_replacement(
        self, sent: Body, document_uuid: UUID, stored_uris: StoredUris, leniency: Leniency | None = None
    ) -> PendingDocument:
        """Validate an update, as `validate_new` does a new document. Raises HiddenItemsSent and what
        `DocumentValidator.valid_replacement` raises.
        """
        return self._pending(self._visible.valid_replacement(sent, document_uuid, leniency), stored_uris)

    def _pending(self, visible: Body, stored_uris: StoredUris) -> PendingDocument:
        identity = self._full.extractor.identity(visible)
        return PendingDocument(self._full.resource, identity, lambda stored: self._merged(stored, visible, stored_uris))

    def _merged(self, stored: Body | None, visible: Body, stored_uris: StoredUris) -> ValidatedDocument:
        """The body to store: the visible part over the stored body, or alone if there is none.

        Raises CannotBeCreated; ContradictsHidden if the result is invalid for what is hidden, and DataValidationFailed
        if for visible members alone. What was invalid at hidden places of the stored body already does not count.
        """
        body = self._merge(stored, visible)
        self._check(body, stored, visible)
        try:
            merged = self._full.as_validated(body, stored_uris)
        except (DataValidationFailed, DocumentTooLarge) as error:
            self._full.as_validated(visible, stored_uris)  # Raises what is wrong with it alone, at its own places.
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


@dataclass(slots=True)
class MergedDocument(ValidatedDocument):
    """A document of which the client sent the `visible` part alone: errors name places in it."""

    visible: Body
    extractor: Extractor

    @classmethod
    def of(cls, merged: ValidatedDocument, visible: Body, extractor: Extractor) -> "MergedDocument":
        """The merged document with the part that was sent."""
        whole = {each.name: getattr(merged, each.name) for each in fields(ValidatedDocument)}
        return cls(**whole, visible=visible, extractor=extractor)

    @property
    def sent_references(self) -> Sequence[DocumentReference]:
        return (*self.extractor.references(self.visible), *self.extractor.key_descriptors(self.visible))


class _VisibleValidator(DocumentValidator):
    """A validator over the visible part of the schema: coercion drops what the schema does not have."""

    def __init__(self, full: DocumentValidator, view: ObjectView) -> None:
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
    """Return what is broken, wherever in arrays."""
    return without_indexes(violation.path), violation.message
