"""Takes over the key changes of a window: documents that have an old key here get their new one, with all that refer to
them.

Which document here is which of the source is found out before anything changes, by the old keys, and is kept until the
window is done: while one document after the other gets its new key, an old one can be that of another document, of
which its parents' changes have made it. A document waits for the one that gives up its new key; where several exchange
their keys, one of them has a temporary key in the meantime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_hex
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connections, transaction

from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidators, ValidatedDocument
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.paths import put_value
from edfi_api.core.security.claim_names import Action
from edfi_api.core.storage import resource_types, store
from edfi_api.core.storage.descriptor_uri_cache import stored_uris
from edfi_api.core.storage.driver.execution import TooMuchContention
from edfi_api.core.storage.exceptions import DocumentNotFound, IdentityConflict, KeyChangeContradicts
from edfi_api.core.storage.stored import referential_ids, stored_versions
from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.features.exchange.pull.client_writer import CLIENT_REFUSALS, ClientRights
from edfi_api.features.exchange.pull.outcomes import DueDelete, Outcomes
from edfi_api.features.exchange.pull.tracked_keys import KeyBody, TrackedKeys, put_key, remote_id_of
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName
from references.exceptions import UnresolvedReference

_REFUSALS: tuple[type[Exception], ...] = (
    *CLIENT_REFUSALS,
    IdentityConflict,
    KeyChangeContradicts,
    TooMuchContention,
)
_AT_ONCE = 1_000
# The beginning of a temporary key, and how long it is: the shortest texts of keys have sixteen characters and more.
_TEMPORARY = "~"
_BYTES_OF_TEMPORARY = 7
_LONGEST_TEMPORARY = len(_TEMPORARY) + 2 * _BYTES_OF_TEMPORARY
_SCHEMA = """
CREATE TABLE key_change (
    number INTEGER PRIMARY KEY, resource TEXT, remote_id TEXT, old BLOB, new BLOB, old_key BLOB, new_key BLOB,
    is_done INTEGER DEFAULT 0
);
CREATE INDEX key_change_of ON key_change (resource, remote_id);
CREATE INDEX key_change_from ON key_change (old);
CREATE TABLE pinned (
    resource TEXT, remote_id TEXT, document_uuid TEXT, is_delete INTEGER, PRIMARY KEY (resource, remote_id)
);
CREATE UNIQUE INDEX pinned_document ON pinned (document_uuid) WHERE document_uuid IS NOT NULL;
"""
_CHANGES = "SELECT number, resource, remote_id, old, new, old_key, new_key FROM key_change"
_PINNED = "SELECT resource, remote_id, document_uuid, is_delete FROM exchange_pinned WHERE connection = %(connection)s"
# A document, and those that refer to it and have its temporary key in their own, those farthest from it first.
_WITH_TEMPORARY_KEY = """
WITH RECURSIVE below AS (
    SELECT id, document_uuid, resource_type_id, 0 AS depth FROM document WHERE document_uuid = %(document)s
 UNION
    SELECT d.id, d.document_uuid, d.resource_type_id, below.depth + 1
      FROM below JOIN alias a ON a.document_id = below.id JOIN reference r ON r.alias_id = a.referential_id
      JOIN document d ON d.id = r.document_id
     WHERE position(%(temporary)s IN d.natural_key) > 0 AND below.depth < 20
)
SELECT document_uuid, resource_type_id FROM below GROUP BY 1, 2 ORDER BY max(depth) DESC
"""
_PIN = """
INSERT INTO exchange_pinned (connection, resource, remote_id, document_uuid, is_delete)
SELECT %(connection)s, * FROM unnest(%(resources)s::text[], %(ids)s::text[], %(uuids)s::uuid[], %(deletes)s::boolean[])
ON CONFLICT DO NOTHING
"""


class ListedKeyChange(NamedTuple):
    """A key change of the source: `old` and `new` are referential ids."""

    number: int
    resource: Resource
    remote_id: str
    old: UUID
    new: UUID
    old_key: KeyBody
    new_key: KeyBody


class KeyChangeMemory(TemporaryDatabase):
    """The key changes of a window, and the documents here that are pinned for them and for its deletes."""

    def __init__(self, resources: Mapping[str, Resource]) -> None:
        super().__init__(_SCHEMA)
        self._resources = resources

    def add(self, resource: Resource, remote_id: str, ids: tuple[UUID, UUID], keys: tuple[KeyBody, KeyBody]) -> None:
        values = (
            resource.url_path,
            remote_id,
            *(each.bytes for each in ids),
            *(json_text.dumps(each) for each in keys),
        )
        statement = "INSERT INTO key_change (resource, remote_id, old, new, old_key, new_key) VALUES (?, ?, ?, ?, ?, ?)"
        self._database.execute(statement, values)

    def parts(self) -> Iterator[list[ListedKeyChange]]:
        """All key changes in the order in which they are listed, some at a time."""
        after = 0
        while part := self._changes("WHERE number > ? ORDER BY number LIMIT ?", after, _AT_ONCE):
            yield part
            after = part[-1].number

    def is_done(self, change: ListedKeyChange) -> bool:
        found = self._database.execute("SELECT is_done FROM key_change WHERE number = ?", (change.number,))
        return bool(found.fetchone()[0])

    def mark_done(self, change: ListedKeyChange) -> None:
        self._database.execute("UPDATE key_change SET is_done = 1 WHERE number = ?", (change.number,))

    def from_key(self, old: UUID) -> ListedKeyChange | None:
        """The first change of this key."""
        return next(iter(self._changes("WHERE old = ? ORDER BY number LIMIT 1", old.bytes)), None)

    def open_change_of(self, document_uuid: UUID) -> ListedKeyChange | None:
        """The change of a pinned document that is not done yet."""
        where = (
            "JOIN pinned USING (resource, remote_id) WHERE document_uuid = ? AND NOT is_delete AND NOT is_done LIMIT 1"
        )
        return next(iter(self._changes(where, str(document_uuid))), None)

    def pin(self, rows: Iterable[tuple[str, str, UUID | None, bool]]) -> None:
        """Keep resource, id there, document here, and whether it is deleted there. The first of a document counts."""
        values = ((resource, id_, uuid and str(uuid), is_delete) for resource, id_, uuid, is_delete in rows)
        self._database.executemany("INSERT OR IGNORE INTO pinned VALUES (?, ?, ?, ?)", values)

    def pinned(self, resource: Resource, remote_id: str) -> UUID | None:
        statement = "SELECT document_uuid FROM pinned WHERE resource = ? AND remote_id = ?"
        found = self._database.execute(statement, (resource.url_path, remote_id)).fetchone()
        return UUID(found[0]) if found and found[0] else None

    def owner(self, document_uuid: UUID) -> tuple[str, bool] | None:
        """The id there of the document for which this one is pinned, and whether that is deleted."""
        statement = "SELECT remote_id, is_delete FROM pinned WHERE document_uuid = ?"
        found = self._database.execute(statement, (str(document_uuid),)).fetchone()
        return (found[0], bool(found[1])) if found else None

    @property
    def resources(self) -> Iterable[Resource]:
        return self._resources.values()

    def given_way(self) -> list[tuple[Resource, str, UUID]]:
        """Documents with temporary keys that are to be deleted."""
        statement = "SELECT resource, remote_id, document_uuid FROM pinned WHERE is_delete AND remote_id LIKE ?"
        rows = self._database.execute(statement, (f"{_TEMPORARY}%",))
        return [(self._resources[path], temporary, UUID(uuid)) for path, temporary, uuid in rows]

    def all_pinned(self) -> Iterator[list[tuple[str, str, UUID | None, bool]]]:
        rows = self._database.execute("SELECT resource, remote_id, document_uuid, is_delete FROM pinned")
        while part := rows.fetchmany(_AT_ONCE):
            yield [
                (resource, id_, UUID(uuid) if uuid else None, bool(deletes)) for resource, id_, uuid, deletes in part
            ]

    def _changes(self, where: str, *values: Any) -> list[ListedKeyChange]:
        found = self._database.execute(f"{_CHANGES} {where}", values)
        return [
            ListedKeyChange(
                number,
                self._resources[path],
                remote_id,
                UUID(bytes=old),
                UUID(bytes=new),
                json_text.loads(old_key),
                json_text.loads(new_key),
            )
            for number, path, remote_id, old, new, old_key, new_key in found.fetchall()
        ]


@dataclass(slots=True)
class KeyChanges:
    """The key changes of one window. `due` are documents here that have to be deleted instead of getting a new key: the
    new one is among the documents of the window."""

    rights: ClientRights
    validators: DocumentValidators
    keys: TrackedKeys
    using: str
    outcomes: Outcomes
    memory: KeyChangeMemory
    # Whether all changes since the position are listed, and documents here have the keys that they had there then.
    is_whole: bool = True
    due: list[DueDelete] = field(default_factory=list)
    has_any: bool = False
    _changeable: dict[ResourceName, Resource] = field(default_factory=dict)
    _set_aside: set[int] = field(default_factory=set)

    def note(self, resource: Resource, listed: Sequence[Mapping[str, Any]]) -> None:
        """Note the listed key changes of a resource."""
        for each in listed:
            try:
                keys = tuple(self.keys.read(resource, each.get(name)) for name in ("oldKeyValues", "newKeyValues"))
                ids = tuple(self.keys.id_of(resource, key) for key in keys)
            except DataValidationFailed as refusal:
                self.outcomes.record_unreadable(resource, "upsert", each, refusal)
                continue
            if ids[0] != ids[1]:
                self.memory.add(resource, remote_id_of(each, ids[0]), (ids[0], ids[1]), (keys[0], keys[1]))
                self.has_any = True

    def pin(self, deletes: Callable[[], Iterable[tuple[Resource, Sequence[Mapping[str, Any]]]]]) -> None:
        """Find the documents here, and those of the deletes of the window, while they have their old keys. The database
        keeps them: a window that was interrupted goes on with them."""
        connection = {"connection": self.outcomes.connection.pk}
        with connections[self.using].cursor() as cursor:
            cursor.execute(_PINNED, connection)
            is_known = False
            while rows := cursor.fetchmany(_AT_ONCE):
                self.memory.pin(rows)
                is_known = True
        if is_known:
            return
        self.find(deletes)
        with transaction.atomic(self.using):
            for part in self.memory.all_pinned():
                self._keep(part)

    def find(self, deletes: Callable[[], Iterable[tuple[Resource, Sequence[Mapping[str, Any]]]]]) -> None:
        """Find the documents as `pin` does, in memory alone."""
        for part in self.memory.parts():
            stored = stored_versions([each.old for each in part], self.using)
            found = ((each, stored[each.old].document_uuid if each.old in stored else None) for each in part)
            self.memory.pin((each.resource.url_path, each.remote_id, uuid, False) for each, uuid in found)
        for resource, page in deletes():
            ids = {
                id_: remote_id_of(each, id_) for each in page if (id_ := self._id_of_delete(resource, each)) is not None
            }
            stored = stored_versions(ids, self.using)
            self.memory.pin((resource.url_path, ids[id_], found.document_uuid, True) for id_, found in stored.items())

    def make(self) -> None:
        """Give the documents here their new keys."""
        for part in self.memory.parts():
            # Most documents have got their new keys together with those of their parents.
            stored = stored_versions([each.new for each in part], self.using)
            for change in part:
                has_it = stored.get(change.new)
                if has_it and has_it.document_uuid == self.memory.pinned(change.resource, change.remote_id):
                    self.memory.mark_done(change)
                elif not self.memory.is_done(change):
                    self._make(change)

    def replaced(self) -> Iterator[tuple[Resource, UUID]]:
        """Yield the documents that have given way to others, and those that have their temporary keys in their own,
        referrers first."""
        for resource, temporary, document in self.memory.given_way():
            names = {resource_types.numbers(self.using)[each.name]: each for each in self.memory.resources}
            with connections[self.using].cursor() as cursor:
                cursor.execute(_WITH_TEMPORARY_KEY, {"document": document, "temporary": temporary})
                for document_uuid, number in cursor.fetchall():
                    yield names.get(number, resource), document_uuid

    def candidates(self, resource: Resource, key: KeyBody) -> list[UUID]:
        """Return the referential ids of a listed key, and of what the key changes of its parents have made of it."""
        moved = self.keys.with_moved_parents(resource, key, self._new_key)
        return [self.keys.id_of(resource, each) for each in (key, moved) if each is not None]

    def _make(self, first: ListedKeyChange) -> None:
        """Change the key of a document, after those of the documents that give up the new key."""
        on_way = [first]
        while on_way:
            change = on_way[-1]
            document = self._document_of(change)
            taken = stored_versions([change.new], self.using).get(change.new)
            is_free = taken is None or taken.document_uuid == document
            other = None if taken is None or is_free else self.memory.open_change_of(taken.document_uuid)
            if document is not None and other is not None and self._has_to_wait(other, on_way):
                continue
            if document is not None:
                due = DueDelete(change.resource, change.remote_id, document)
                if taken is None or is_free or self._gives_way(change.resource, taken.document_uuid):
                    self._change_key(due, change)
                else:
                    self.due.append(due)
            self.memory.mark_done(change)
            on_way.pop()

    def _has_to_wait(self, other: ListedKeyChange, on_way: list[ListedKeyChange]) -> bool:
        """Return whether the other one gets its new key, or a temporary one, before the last on the way."""
        if all(each.number != other.number for each in on_way):
            on_way.append(other)
            return True
        if other.number in self._set_aside:
            return False
        self._set_aside.add(other.number)
        document = self.memory.pinned(other.resource, other.remote_id)
        return document is not None and self._takes_temporary_key(other.resource, document, _temporary_text())

    def _document_of(self, change: ListedKeyChange) -> UUID | None:
        """The document here; if it had not the old key, one that has it by now, unless it is that of another one."""
        if pinned := self.memory.pinned(change.resource, change.remote_id):
            return pinned
        candidates = self.candidates(change.resource, change.old_key)
        stored = stored_versions(candidates, self.using)
        found = (stored[each].document_uuid for each in candidates if each in stored)
        return next((each for each in found if self.memory.owner(each) is None), None)

    def _gives_way(self, resource: Resource, document: UUID) -> bool:
        """Return whether a document that has the new key of another one gets a temporary key. The source cannot have it
        any more: it does not list deletes of documents whose keys others have now."""
        if not self.is_whole or self.memory.owner(document) is not None:
            return False
        temporary = _temporary_text()
        self._keep([(resource.url_path, temporary, document, True)])
        if not self._takes_temporary_key(resource, document, temporary):
            return False
        self.memory.pin([(resource.url_path, temporary, document, True)])
        return True

    def _new_key(self, resource: Resource, old: UUID) -> KeyBody | None:
        change = self.memory.from_key(old)
        return change.new_key if change is not None and change.resource.name == resource.name else None

    def _id_of_delete(self, resource: Resource, listed: Mapping[str, Any]) -> UUID | None:
        try:
            return self.keys.id_of(resource, self.keys.read(resource, listed.get("keyValues")))
        except DataValidationFailed:
            return None  # Reported when it is to be deleted.

    def _change_key(self, due: DueDelete, change: ListedKeyChange) -> None:
        """Give a document its new key as it is listed, or as later changes of its parents have made it."""
        try:
            try:
                self._update(due, change.new_key)
            except UnresolvedReference:
                moved = self.keys.with_moved_parents(change.resource, change.new_key, self._new_key)
                if moved is None:
                    raise
                self._update(due, moved)
        except DocumentNotFound:
            return
        except _REFUSALS:
            self.due.append(due)

    def _keep(self, rows: Sequence[tuple[str, str, UUID | None, bool]]) -> None:
        """Store pinned documents, so that a window that is interrupted goes on with them."""
        resources, ids, uuids, are_deletes = (list(column) for column in zip(*rows, strict=True))
        columns = {"resources": resources, "ids": ids, "uuids": uuids, "deletes": are_deletes}
        with connections[self.using].cursor() as cursor:
            cursor.execute(_PIN, {"connection": self.outcomes.connection.pk, **columns})

    def _takes_temporary_key(self, resource: Resource, document: UUID, text: str) -> bool:
        path = next((each for each in resource.identity if _is_plain_text(resource, each)), None)
        if path is None:
            return False
        key: KeyBody = {}
        put_value(key, path.steps, text)
        try:
            self._update(DueDelete(resource, "", document), key, is_temporary=True)
        except DocumentNotFound:
            return False
        except _REFUSALS:
            return False
        return True

    def _update(self, due: DueDelete, key: KeyBody, *, is_temporary: bool = False) -> None:
        resource = due.resource
        stored = store.get(resource, due.document_uuid, using=self.using)
        if stored is None:
            raise DocumentNotFound(resource)
        body = json_text.loads(stored.text)
        put_key(body, resource, key)
        validated = self.validators[resource.name].validate(body, partial(stored_uris, using=self.using))
        current = referential_ids([due.document_uuid], self.using).get(due.document_uuid, set())
        if validated.identity.referential_id in current:
            return
        request = WriteRequest(
            self._with_changing_key(validated),
            client=self.rights.client.row_id,
            policy=self.rights.of(resource, Action.UPDATE),
            may_read=self.rights.may_read,
            using=self.using,
        )
        store.update(request, due.document_uuid, self.validators)
        if not is_temporary:
            self.outcomes.count_changed_key()

    def _with_changing_key(self, validated: ValidatedDocument) -> ValidatedDocument:
        """Return the document with a key that may change, also of a resource whose keys clients may not change here:
        the source has changed it.
        """
        name = validated.resource.name
        if name not in self._changeable:
            self._changeable[name] = replace(validated.resource, allows_identity_updates=True)
        return replace(validated, resource=self._changeable[name])


def _temporary_text() -> str:
    return _TEMPORARY + token_hex(_BYTES_OF_TEMPORARY)


def _is_plain_text(resource: Resource, path: JsonPath) -> bool:
    """Return whether a member of the key can have any text."""
    if len(path.steps) > 1 or resource.is_descriptor:
        return False
    schema = resource.json_schema["properties"][path.steps[0]]
    is_text = schema["type"] == "string" and "format" not in schema and not is_descriptor_name(path.steps[0])
    return is_text and schema.get("maxLength", _LONGEST_TEMPORARY) >= _LONGEST_TEMPORARY
