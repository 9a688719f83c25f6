"""Deletes and key changes that a source has recorded → entries of /deletes and /keyChanges, with their versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import connections

from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.paths import put_value
from edfi_api.core.documents.securables import COLUMNS
from edfi_api.core.storage import resource_types
from edfi_api.features.loading.reports.results import RefusalHandler, Refused
from edfi_api.features.ods_import.deletes import Deletes, SourceDelete
from edfi_api.features.ods_import.document_queries import NO_VERSION, DocumentQuery, is_timestamp
from edfi_api.features.ods_import.ods_source import HIGHEST_VERSION, OdsSource, quoted, quoted_name
from edfi_api.features.sql_views.casts import literal
from edfi_api.features.sql_views.shape import SqlColumn
from edfi_api.model.metaed.model import PropertyType
from edfi_api.model.surface.columns import Column

_AT_ONCE = 1_000
_SECURED = tuple(name for name in COLUMNS if name not in ("hierarchy", "is_person"))
_OLD, _NEW = "old", "new"
_NO_WHOLE_KEY = "it has no whole key"
_FAULT = f"""
CASE WHEN NOT {is_timestamp("createdate")} THEN 'its createdate is no date of the years 1 to 9999'
     WHEN NOT changeversion BETWEEN 0 AND {HIGHEST_VERSION} THEN {literal(NO_VERSION)}
     ELSE '' END
"""

_VALUES = f"""
SELECT sent.*, %(type)s::smallint AS resource_type_id
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS sent (
    change_version bigint, document_uuid uuid, at timestamptz, natural_key text, aliases uuid[], old jsonb, new jsonb,
    {", ".join(f"{name} {COLUMNS[name]}" for name in _SECURED)}
  )
"""
_INSERT_DELETES = f"""
INSERT INTO deleted_document (
    change_version, document_uuid, resource_type_id, natural_key, key_values, aliases, body, {", ".join(_SECURED)},
    created_at, last_change_version, last_operation, last_modified_at, deleted_at
)
SELECT change_version, document_uuid, resource_type_id, natural_key, key_values(resource_type_id, old), aliases, NULL,
       {", ".join(_SECURED)}, at, change_version, 'insert', at, at
  FROM ({_VALUES}) AS tracked
 WHERE NOT EXISTS (SELECT FROM document d WHERE d.document_uuid = tracked.document_uuid)
ON CONFLICT DO NOTHING
"""
_INSERT_KEY_CHANGES = f"""
INSERT INTO key_change (
    change_version, document_uuid, resource_type_id, old_key_values, new_key_values, {", ".join(_SECURED)}
)
SELECT change_version, document_uuid, resource_type_id, key_values(resource_type_id, old),
       key_values(resource_type_id, new), {", ".join(_SECURED)}
  FROM ({_VALUES}) AS tracked
ON CONFLICT DO NOTHING
"""
# What has not been inserted is there already, from an earlier pass, or another change has its version.
_NOT_INSERTED = f"""
SELECT count(*) FROM ({_VALUES}) AS tracked
 WHERE NOT EXISTS (SELECT FROM {{table}} c WHERE c.document_uuid = tracked.document_uuid){{and_gone}}
"""
_DELETES_NOT_INSERTED = _NOT_INSERTED.format(
    table="deleted_document",
    and_gone=" AND NOT EXISTS (SELECT FROM document d WHERE d.document_uuid = tracked.document_uuid)",
)
_KEY_CHANGES_NOT_INSERTED = _NOT_INSERTED.format(table="key_change", and_gone="")
_STORED = """
SELECT document_uuid, change_version <@ %(changed_here)s::int8multirange FROM document
 WHERE resource_type_id = %(type)s AND document_uuid = ANY (%(ids)s)
"""


@dataclass(frozen=True, slots=True)
class TrackedChange:
    """A row that the source has recorded: the key values of the document before, and after a change of its key, each
    as the part of a body in which they stand. `fault` says why it cannot be recorded here, "" if it can."""

    version: int
    document_uuid: UUID
    at: str
    old: dict[str, Any]
    new: dict[str, Any] | None
    fault: str = ""


@dataclass(slots=True)
class TrackedResult:
    """The numbers of recorded deletes of documents that are not here, and key changes, and of those that were not."""

    recorded: int = 0
    key_changes: int = 0
    unreadable: int = 0
    of_taken_versions: int = 0


class RecordedChanges:
    """The changes that a source has recorded of some resources."""

    def __init__(self, source: OdsSource, queries: Sequence[DocumentQuery], validators: DocumentValidators) -> None:
        self.queries = queries
        self._source = source
        self._validators = validators

    def has(self, query: DocumentQuery) -> bool:
        """Return whether the source records the changes of this resource."""
        return _table(query) in self._source.tables

    def changed(self) -> list[DocumentQuery]:
        """Return the queries of the resources of which it has recorded changes."""
        changed = self._source.with_rows(sorted({_table(query) for query in self.queries if self.has(query)}))
        return [query for query in self.queries if _table(query) in changed]

    def changes(self, query: DocumentQuery, since: int) -> Iterator[list[TrackedChange]]:
        """Yield the changes in the order of their versions, some at a time."""
        values = {"since": since, "discriminator": query.discriminator}
        rows = self._source.stream(_statement(query), values)
        while part := [_change(query, row) for row in islice(rows, _AT_ONCE)]:
            yield part

    def row(self, query: DocumentQuery, change: TrackedChange) -> dict[str, Any] | None:
        """A change with what follows from its key, as the statements take it; None without a whole key."""
        try:
            understood = self._validators[query.resource.name].understand(change.old)
        except (DataValidationFailed, KeyError):
            return None
        securables = understood.securables._asdict()
        return {
            "change_version": change.version,
            "document_uuid": change.document_uuid,
            "at": change.at,
            "natural_key": understood.identity.natural_key,
            "aliases": understood.identity.aliases,
            "old": change.old,
            "new": change.new,
            **{name: securables[name] for name in _SECURED},
        }


class TrackedChanges:
    """Takes over recorded changes. `changed_here` are the versions of documents that stay as they are; `on_refusal`
    gets each change that cannot be recorded."""

    def __init__(self, recorded: RecordedChanges, using: str, changed_here: str, on_refusal: RefusalHandler) -> None:
        self._recorded = recorded
        self._using = using
        self._changed_here = changed_here
        self._on_refusal = on_refusal
        self.result = TrackedResult()

    def take(self, since: int, deletes: Deletes) -> None:
        """Record deletes and key changes after this version, and carry out the deletes of what is here, as far as
        nothing refers to it yet. Referrers come before their targets."""
        for query in reversed(self._recorded.changed()):
            for changes in self._recorded.changes(query, since):
                for change in changes:
                    if change.fault:
                        self._refuse(query, change, change.fault)
                self._record(query, [change for change in changes if not change.fault], deletes)
        deletes.carry_out()

    def _record(self, query: DocumentQuery, changes: Sequence[TrackedChange], deletes: Deletes) -> None:
        deleted = [change for change in changes if change.new is None]
        stored = self._stored(query, [change.document_uuid for change in deleted])
        for change in deleted:
            if change.document_uuid in stored:
                delete = SourceDelete(query, change.document_uuid, change.version, change.at)
                deletes.add(delete, is_changed_here=stored[change.document_uuid])
        gone = [change for change in deleted if change.document_uuid not in stored]
        self.result.recorded += self._insert(_INSERT_DELETES, _DELETES_NOT_INSERTED, query, gone)
        keys = [change for change in changes if change.new is not None]
        self.result.key_changes += self._insert(_INSERT_KEY_CHANGES, _KEY_CHANGES_NOT_INSERTED, query, keys)

    def _refuse(self, query: DocumentQuery, change: TrackedChange, reason: str) -> None:
        what = "delete" if change.new is None else "key change"
        place = f"{change.document_uuid}, {what} at version {change.version}"
        self.result.unreadable += 1
        self._on_refusal(Refused(place, None, query.resource.name, reason))

    def _stored(self, query: DocumentQuery, ids: list[UUID]) -> dict[UUID, bool]:
        """Return the ids that are documents here, each with whether it was changed here."""
        values: dict[str, Any] = {"type": self._number(query), "ids": ids, "changed_here": self._changed_here}
        with connections[self._using].cursor() as cursor:
            return dict(cursor.execute(_STORED, values).fetchall())

    def _insert(self, statement: str, not_inserted: str, query: DocumentQuery, changes: Sequence[TrackedChange]) -> int:
        rows = []
        for change in changes:
            if (row := self._recorded.row(query, change)) is not None:
                rows.append(row)
            else:
                self._refuse(query, change, _NO_WHOLE_KEY)
        if not rows:
            return 0
        values: dict[str, Any] = {"type": self._number(query), "rows": json_text.dumps(rows).decode()}
        with connections[self._using].cursor() as cursor:
            cursor.execute(statement, values)
            inserted = int(cursor.rowcount)
            self.result.of_taken_versions += cursor.execute(not_inserted, values).fetchone()[0]
        return inserted

    def _number(self, query: DocumentQuery) -> int:
        return resource_types.numbers(self._using)[query.resource.name]


def _statement(query: DocumentQuery) -> str:
    old, new = (f"jsonb_build_array({', '.join(_key(query, prefix))})" for prefix in (_OLD, _NEW))
    first = quoted_name(_NEW + query.root.primary_key[0])
    conditions = ["changeversion > %(since)s"]
    if query.discriminator:
        conditions.append("discriminator = %(discriminator)s")
    new_if_any = f"CASE WHEN {first} IS NOT NULL THEN {new} END"
    return (
        f"SELECT changeversion, id, createdate::text || '+00', {old}, {new_if_any}, {_FAULT}"
        f" FROM {quoted(_table(query))} WHERE {' AND '.join(conditions)} ORDER BY changeversion"
    )


def _change(query: DocumentQuery, row: Sequence[Any]) -> TrackedChange:
    version, document_uuid, at, old, new, fault = row
    after = None if new is None else _body(query, new)
    return TrackedChange(version, document_uuid, at, _body(query, old), after, fault)


def _table(query: DocumentQuery) -> str:
    return f"tracked_changes_{query.root.schema}.{query.root.name}"


def _key(query: DocumentQuery, prefix: str) -> Iterator[str]:
    """The values of the identity, in the order of its paths."""
    for column in query.identity:
        yield _value(column, prefix)


def _value(column: SqlColumn, prefix: str) -> str:
    name = f"{prefix}{column.name}"
    match column.source:
        case Column() if column.source.is_surrogate:
            return quoted_name(f"{name.removesuffix('usi')}uniqueid")
        case Column() if column.source.prop.type is PropertyType.DESCRIPTOR:
            descriptor = name.removesuffix("id")
            return (
                f"{quoted_name(f'{descriptor}namespace')} || {literal('#')} || {quoted_name(f'{descriptor}codevalue')}"
            )
        case Column() if column.source.prop.type is PropertyType.DATE:
            return f"to_char({quoted_name(name)}, 'YYYY-MM-DD')"
    return quoted_name(name)


def _body(query: DocumentQuery, values: Sequence[Any]) -> dict[str, Any]:
    """The part of a body in which the values of the identity stand."""
    body: dict[str, Any] = {}
    for path, value in zip(query.resource.identity, values, strict=True):
        put_value(body, path.steps, value)
    return body
