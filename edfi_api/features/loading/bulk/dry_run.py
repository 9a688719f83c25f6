"""A load that writes nothing: the results that each document would have, with no lock on any document.

Batches are staged and compared with what is stored and with what the dry run has accepted before. Only a temporary
table is written, so clients and change queries notice nothing of it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import TupleRow

from edfi_api.core.documents import json_text
from edfi_api.core.documents.extraction import DESCRIPTOR_KEY
from edfi_api.core.storage.sets import statements
from edfi_api.core.storage.sets.conflicts import Conflicts, Resolve
from edfi_api.core.storage.sets.staging import find_conflicts, one_transaction, rows_of, stage
from edfi_api.core.storage.stored import Outcome, stored_documents
from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.features.loading.bulk.candidates import PreservedFields
from edfi_api.features.loading.bulk.preparation import Batch, Prepared, are_descriptors
from edfi_api.features.loading.bulk.writing import BatchWriter

_SCHEMA = """
CREATE TABLE document (own BLOB PRIMARY KEY, resource_type INTEGER, body TEXT) WITHOUT ROWID;
CREATE INDEX document_type ON document (resource_type);
CREATE TABLE alias (alias BLOB PRIMARY KEY, own BLOB) WITHOUT ROWID;
"""
_OF_TYPE = "SELECT body FROM document WHERE resource_type = ?"


class AcceptedDocuments(TemporaryDatabase):
    """Bodies by referential id; the last one of a document counts."""

    def __init__(self) -> None:
        super().__init__(_SCHEMA)

    def add(self, aliases: Sequence[bytes], resource_type: int, body: str) -> None:
        self._database.execute("INSERT OR REPLACE INTO document VALUES (?, ?, ?)", (aliases[0], resource_type, body))
        rows = [(alias, aliases[0]) for alias in aliases]
        self._database.executemany("INSERT OR IGNORE INTO alias VALUES (?, ?)", rows)

    def body(self, own: bytes) -> str | None:
        """The body of the document with this id, as PostgreSQL writes it."""
        row = self._database.execute("SELECT body FROM document WHERE own = ?", (own,)).fetchone()
        return row[0] if row else None

    def owner(self, alias: bytes) -> bytes | None:
        """The own id of the document that has this one."""
        row = self._database.execute("SELECT own FROM alias WHERE alias = ?", (alias,)).fetchone()
        return row[0] if row else None

    def among(self, ids: Iterable[bytes]) -> set[bytes]:
        """Return those of the ids that accepted documents have."""
        return {id_ for id_ in ids if self.owner(id_) is not None}

    def containing(self, resource_type: int, example: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The bodies of a resource that contain the example, as by the operator `@>` of jsonb."""
        query, parameters = _OF_TYPE, [resource_type]
        if (leaf := _text_at_root(example)) is not None:
            query, parameters = f"{_OF_TYPE} AND json_extract(body, ?) = ?", [resource_type, *leaf]
        for (text,) in self._database.execute(query, parameters).fetchall():
            body = json_text.loads(text.encode())
            if contains(body, example):
                yield body


def contains(value: Any, example: Any) -> bool:
    """Return whether a JSON value contains another one, as by `@>`."""
    if isinstance(example, Mapping):
        return isinstance(value, dict) and all(
            name in value and contains(value[name], member) for name, member in example.items()
        )
    if isinstance(example, list):
        return isinstance(value, list) and all(any(contains(item, wanted) for item in value) for wanted in example)
    return type(value) is type(example) and bool(value == example)


def _text_at_root(example: Mapping[str, Any]) -> list[Any] | None:
    """The path and the value of a text at the root of an example, by which SQLite can choose first."""
    return next(([f"$.{name}", value] for name, value in example.items() if isinstance(value, str)), None)


class DryRun(BatchWriter):
    """Determines the results of batches, one after the other."""

    is_concurrent = False

    def __init__(
        self,
        using: str,
        accepted: AcceptedDocuments,
        preserved: PreservedFields = PreservedFields.NOTHING,
        *,
        skips_rules: bool = False,
    ) -> None:
        super().__init__(using, preserved=preserved, skips_rules=skips_rules)
        self._accepted = accepted

    def _write_at_once(
        self, batch: Batch, prepared: Prepared, resolve: Resolve
    ) -> tuple[Conflicts, dict[int, Outcome]]:
        if not prepared.aliases:
            return Conflicts(), {}
        with one_transaction(self._using) as cursor:
            have_envelopes = self.preserved is PreservedFields.ENVELOPES
            stage(cursor, prepared.lines, statements.COPY_IMPORTED if have_envelopes else statements.COPY)
            body = statements.body_of("s", keeps_keys=are_descriptors(batch))
            rows = rows_of(cursor, statements.COMPARED.format(body=body))
            is_stored = {position for position, _, _, is_same in rows if is_same is not None}
            conflicts = find_conflicts(cursor, prepared.aliases, self._resolve_with_accepted(resolve, is_stored))
        refused = conflicts.missing.keys() | conflicts.duplicates
        accepted = [row for row in rows if row[0] not in refused]
        return conflicts, dict(self._outcomes(accepted, prepared.aliases, keeps_keys=are_descriptors(batch)))

    def _missing(self, ids: Iterable[UUID]) -> set[UUID]:
        missing = super()._missing(ids)
        return missing - {UUID(bytes=id_) for id_ in self._accepted.among(id_.bytes for id_ in missing)}

    def _stored(self, ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
        """Return the stored documents without locks; what has been accepted before counts as stored."""
        stored = {id_: each.text for id_, each in stored_documents(ids, self._using).items()}
        accepted = {id_: body.encode() for id_ in ids if (body := self._accepted.body(id_.bytes)) is not None}
        return {id_: json_text.loads(text) for id_, text in (stored | accepted).items()}

    def _resolve_with_accepted(self, resolve: Resolve, is_stored: set[int]) -> Resolve:
        """Resolve as `resolve` does, after what has been accepted before counts as stored."""

        def resolved(
            aliases: Mapping[int, Sequence[bytes]], not_stored: Mapping[int, set[bytes]], duplicates: set[int]
        ) -> Conflicts:
            missing = {position: ids - self._accepted.among(ids) for position, ids in not_stored.items()}
            accepted_twice = {
                position
                for position, (own, *above) in aliases.items()
                if position not in is_stored and any(self._accepted.owner(id_) not in (None, own) for id_ in above)
            }
            return resolve(
                aliases, {position: ids for position, ids in missing.items() if ids}, duplicates | accepted_twice
            )

        return resolved

    def _outcomes(
        self, rows: Iterable[TupleRow], aliases: Mapping[int, tuple[bytes, ...]], *, keeps_keys: bool
    ) -> Iterator[tuple[int, Outcome]]:
        for position, resource_type, sent, is_same_as_stored in rows:
            earlier = self._accepted.body(aliases[position][0])
            body = _with_key_of(earlier, sent) if keeps_keys and earlier is not None else sent
            is_same = is_same_as_stored if earlier is None else earlier == body
            if is_same is False and self.leaves_since is not None:
                yield position, Outcome.DIFFERENT if earlier is None else Outcome.REPEATED
                continue
            self._accepted.add(aliases[position], resource_type, body)
            yield position, Outcome.INSERTED if is_same is None else Outcome.UNCHANGED if is_same else Outcome.UPDATED


def _with_key_of(stored: str, sent: str) -> str:
    """The body of a descriptor, as PostgreSQL writes it, with the key of the one that it replaces."""
    key = json.loads(stored)
    return json.dumps(json.loads(sent) | {name: key[name] for name in DESCRIPTOR_KEY}, ensure_ascii=False)
