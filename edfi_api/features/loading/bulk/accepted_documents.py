"""The documents that a dry run has accepted, on disk: what later documents find as if they were stored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from edfi_api.core.documents import json_text
from edfi_api.core.storage.temporary_database import TemporaryDatabase

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
    """Whether a JSON value contains another one, as by `@>`."""
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
