"""Compares a source with what is here: counts by resource, and digests of ids and bodies.

What is read of one side waits on disk, one resource at a time. Bodies are the same if their values are, in whatever
order their arrays are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any
from uuid import UUID

import orjson
from django.db import connections
from psycopg import ServerCursor

from edfi_api.core.documents import json_text
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.temporary_database import TemporaryDatabase
from edfi_api.features.ods_import.document_queries import DocumentQuery
from edfi_api.features.ods_import.ods_source import OdsSource

_SCHEMA = "CREATE TABLE document (id BLOB PRIMARY KEY, digest BLOB) WITHOUT ROWID"
_HERE = "SELECT document_uuid, body::text FROM document WHERE resource_type_id = %s"
# A document may be of megabytes.
_FETCHED_AT_ONCE = 50
_SHOWN = 5


@dataclass(slots=True)
class ComparedResource:
    """How many documents of a resource are there and here, and the ids of the first that differ."""

    endpoint: str
    there: int = 0
    here: int = 0
    same: int = 0
    different: list[UUID] = field(default_factory=list)
    missing: list[UUID] = field(default_factory=list)
    only_here: list[UUID] = field(default_factory=list)

    @property
    def is_same(self) -> bool:
        return self.there == self.here == self.same

    def lines(self) -> Iterator[str]:
        """The differences, for people."""
        for what, ids in (
            ("differ", self.different),
            ("are not here", self.missing),
            ("are here only", self.only_here),
        ):
            if ids:
                shown = ", ".join(map(str, ids[:_SHOWN])) + (", ..." if len(ids) > _SHOWN else "")
                yield f"{self.endpoint}: {len(ids):,} {what}: {shown}"


def compare(source: OdsSource, chosen: Sequence[DocumentQuery], using: str) -> Iterator[ComparedResource]:
    """Each resource that has documents on a side."""
    for query in chosen:
        with _Digests() as digests:
            found = digests.compare(source, query, using)
        if found.there or found.here:
            yield found


class _Digests(TemporaryDatabase):
    def __init__(self) -> None:
        super().__init__(_SCHEMA)

    def compare(self, source: OdsSource, query: DocumentQuery, using: str) -> ComparedResource:
        found = ComparedResource(query.resource.endpoint)
        rows = ((id_.bytes, _digest(body)) for id_, body in source.stream(query.bodies(), at_once=_FETCHED_AT_ONCE))
        self._database.executemany("INSERT OR REPLACE INTO document VALUES (?, ?)", rows)
        [(found.there,)] = self._database.execute("SELECT count(*) FROM document")
        for id_, body in _here(query, using):
            found.here += 1
            row = self._database.execute("DELETE FROM document WHERE id = ? RETURNING digest", (id_.bytes,)).fetchone()
            if row is None:
                found.only_here.append(id_)
            elif row[0] == _digest(body):
                found.same += 1
            else:
                found.different.append(id_)
        found.missing = [UUID(bytes=id_) for (id_,) in self._database.execute("SELECT id FROM document")]
        return found


def _here(query: DocumentQuery, using: str) -> Iterator[tuple[UUID, str]]:
    number = resource_types.numbers(using)[query.resource.name]
    connection = connections[using]
    connection.ensure_connection()
    with ServerCursor(connection.connection, "compare_with_ods", withhold=True) as cursor:
        cursor.execute(_HERE, [number])
        while rows := cursor.fetchmany(_FETCHED_AT_ONCE):
            yield from rows


def _digest(body: str) -> bytes:
    return blake2b(orjson.dumps(_canonical(json_text.loads(body.encode())), option=_SORTED), digest_size=16).digest()


_SORTED = orjson.OPT_SORT_KEYS


def _canonical(value: Any) -> Any:
    """Return the value with arrays in an order of their own, and numbers in one form."""
    match value:
        case dict():
            return {name: _canonical(member) for name, member in value.items()}
        case list():
            return sorted(map(_canonical, value), key=lambda item: orjson.dumps(item, option=_SORTED))
        case bool() | str() | None:
            return value
    return f"number {value:f}".rstrip("0").rstrip(".") if value % 1 else f"number {value:.0f}"
