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
from edfi_api.features.ods_import.compatibility import (
    ServedModel,
    is_of_a_project,
    unbounded,
    unmapped_rows,
    unserved_extensions,
)
from edfi_api.features.ods_import.document_queries import DocumentQuery
from edfi_api.features.ods_import.ods_source import Incompatible, OdsSource, quoted, quoted_name
from edfi_api.features.sql_views.shape import Envelope

# On two processors for both databases; of the demo district they were twice as many, with 1,800 bytes each.
_DOCUMENTS_A_SECOND = 5_000
_BYTES_A_DOCUMENT = 2_000
_SAYS_ITS_STANDARD = """
SELECT EXISTS (
    SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = 'util' AND p.proname = 'getedfistandardversion' AND p.pronargs = 0
       AND has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE')
)
"""
# The table of the tool that applies the scripts of an ODS.
_JOURNAL = "public.DeployJournal"
_LAST_SCRIPT = 'SELECT scriptname, applied::date FROM public."DeployJournal" ORDER BY applied DESC LIMIT 1'


@dataclass(frozen=True, slots=True)
class _Facts:
    """The source: its data standard and the version of the ODS/API, each with what says so; the schemas of its
    projects; whether it records deletes and key changes."""

    standard: str
    server: str
    projects: list[str]
    is_tracked: bool
    newest_version: int


def facts(model: ServedModel, source: OdsSource, found: Incompatible | None) -> _Facts:
    """`found` is their incompatibility. Raises SourceUnusable."""
    schemas = {table.partition(".")[0] for table in source.tables}
    return _Facts(
        standard=_standard(model, source, found),
        server=_server(source),
        projects=sorted(filter(is_of_a_project, schemas)),
        is_tracked=any(schema.startswith("tracked_changes_") for schema in schemas),
        newest_version=source.newest_version(),
    )


def _standard(model: ServedModel, source: OdsSource, found: Incompatible | None) -> str:
    if source.rows(_SAYS_ITS_STANDARD) == [(True,)]:
        return f"{source.rows('SELECT util.getedfistandardversion()')[0][0]} (util.getedfistandardversion)"
    served = model.surface.core_project.version
    return f"{found.standard or served} (which its tables resemble most)" if found else f"{served} (by its tables)"


def _server(source: OdsSource) -> str:
    """No table of an ODS says it, so it is concluded from their shape. The journal of the scripts that have made the
    database is quoted, if the role may read it."""
    has_aggregates = any(Envelope.AGGREGATE_DATA in columns for columns in source.tables.values())
    of_tables = (
        "as of 7.3 (they have aggregatedata)" if has_aggregates else "older than 7.3 (they have no aggregatedata)"
    )
    has_journal = source.may_read(_JOURNAL) and source.tables[_JOURNAL].keys() >= {"scriptname", "applied"}
    last = source.rows(_LAST_SCRIPT) if has_journal else []
    return "".join([of_tables, *(f"; the last of its scripts is {script}, of {day}" for script, day in last)])


def faults(model: ServedModel, source: OdsSource, found: Incompatible | None) -> Iterator[str]:
    """Yield what cannot be imported as it is: another standard, tables and columns that are missing, or have no place;
    texts that are too long."""
    if found:
        yield from incompatibilities(found)
        yield from (f"{name}: the served model needs it, and the source does not have it" for name in found.missing)
    yield from map(str, unserved_extensions(model, source))
    yield from map(str, unmapped_rows(model, source))
    for table, column, length in unbounded(model, source):
        # The bytes are known without reading a text, which may be of 1 GB.
        name = quoted_name(column)
        bytes_, characters = f"octet_length({name})", f"char_length({name})"
        is_longer = f"{bytes_} > {length:d} AND ({bytes_} > {4 * length:d} OR {characters} > {length:d})"
        [(count,)] = source.rows(f"SELECT count(*) FROM {quoted(table)} WHERE {is_longer}")
        if count:
            yield f"{table}.{column}: {count:,} texts of more than {length} characters, which are refused"


def incompatibilities(found: Incompatible) -> Iterator[str]:
    """Yield what to do about it."""
    if found.standard:
        yield (
            f"the source has the tables of Ed-Fi {found.standard}: import with MEADOWLARK_DATA_STANDARD="
            f"{found.standard}, and change the standard then, by an export and a mapping"
        )
    for name in found.extensions:
        yield f"the extension {name} is served, and the source does not have it: serve without it"


def seconds_needed(documents: int) -> int:
    """Return about how long a first pass takes."""
    return -(-documents // _DOCUMENTS_A_SECOND)


def bytes_needed(documents: int) -> int:
    """Return about how much disk the documents take here, with their indexes."""
    return documents * _BYTES_A_DOCUMENT


def count(source: OdsSource, query: DocumentQuery) -> int:
    """The documents of a resource."""
    return int(source.rows(query.count())[0][0])


_SCHEMA = "CREATE TABLE document (id BLOB PRIMARY KEY, digest BLOB) WITHOUT ROWID"
_HERE = "SELECT document_uuid, body::text FROM document WHERE resource_type_id = %s"
# A document may be of megabytes.
_FETCHED_AT_ONCE = 50
_SHOWN = 5


@dataclass(slots=True)
class ComparedResource:
    """The numbers of documents of a resource there and here, and the ids of the first that differ."""

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
        for id_, body in _read_stored(query, using):
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


def _read_stored(query: DocumentQuery, using: str) -> Iterator[tuple[UUID, str]]:
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
