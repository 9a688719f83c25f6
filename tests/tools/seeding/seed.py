"""Fills a database with documents of mixed resources: ten million in minutes.

Shared documents, the schools themselves and one model school are written by the bulk writer. The other schools are
clones of the model's rows, written by COPY after indexes and constraints are dropped; these are created again
afterwards, and foreign keys validated, all in one transaction, so that an interrupted run changes nothing. Triggers are
enabled except the one that computes authorization paths: without indexes it would scan the table for each document, so
paths are computed at the end. `manage.py verify_integrity` accepts the result.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from queue import Queue
from threading import Thread
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from tqdm import tqdm

from edfi_api.core.documents.extraction import Extractor
from edfi_api.core.served import current_surface
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, bulk_writer
from edfi_api.model.surface.resource import Resource, ResourceName
from tests.tools.seeding import district
from tests.tools.seeding.clones import Copies, Key, Model

TABLES = ("document", "alias", "reference")
_MODEL = 1
# Columns with a value per document; all others are copied.
_OWN_COLUMNS = ("id", "document_uuid")
# Columns with a default of the database.
_GIVEN_COLUMNS = ("created_at", "last_modified_at", "change_version")
# The number of schools prepared in advance; each takes some ten megabytes.
_SCHOOLS_AHEAD = 3

_CONSTRAINTS = """
SELECT conrelid::regclass, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
 WHERE contype IN ('f', 'p', 'u') AND ARRAY[conrelid, confrelid]::regclass[] && %(tables)s::regclass[]
 ORDER BY contype = 'f'
"""
_INDEXES = """
SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index i
 WHERE indrelid = ANY (%(tables)s::regclass[])
   AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid AND contype IN ('p', 'u'))
"""
_COLUMNS = """
SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
 WHERE attrelid = %(table)s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
   AND attname <> ALL (%(others)s)
"""


def seed(size: int, is_shown: bool = False, processes: int | None = None) -> None:
    """Write documents until there are `size` of them, or slightly more if one school is larger."""
    _Seeding(is_shown, processes).fill(size)


class _Seeding:
    def __init__(self, is_shown: bool, processes: int | None) -> None:
        self._surface = current_surface()
        self._is_shown = is_shown
        self._processes = processes
        self._document_columns = _columns("document", (*_OWN_COLUMNS, *_GIVEN_COLUMNS))
        self._reference_columns = _columns("reference", ("document_id", "alias_id"))

    def fill(self, size: int) -> None:
        schools = -(-size // len(district.school(_MODEL)))
        self._write(district.frame(schools))
        self._write(district.school(_MODEL))
        model = self._model()
        missing = size - _number_of_documents()
        with transaction.atomic(), _paths_at_the_end(), _without_indexes(self._is_shown):
            self._copy(model, missing)
        if not connection.in_atomic_block:
            with connection.cursor() as cursor:
                cursor.execute(f"VACUUM (ANALYZE) {', '.join(TABLES)}, reached_document")

    def _write(self, documents: Iterable[district.Document]) -> None:
        candidates = (Candidate.of(self._resource(name), body, name) for name, body in documents)
        with bulk_writer(processes=self._processes) as writer:
            for written in writer.write(candidates):
                if not isinstance(written.result, Outcome):
                    raise written.result

    def _resource(self, name: str) -> Resource:
        return self._surface.by_name[ResourceName("Ed-Fi", name)]

    def _model(self) -> Model:
        """The stored model school."""
        extractors: dict[str, Extractor] = {}
        keys = []
        for name, body in district.school(_MODEL):
            if name not in extractors:
                extractors[name] = Extractor(self._resource(name))
            keys.append(Key("Ed-Fi", name, extractors[name].identity(body).elements))
        number = str(district.school_id(_MODEL))
        school_keys = [
            Key("Ed-Fi", "School", [("schoolId", number)]),
            Key("Ed-Fi", "EducationOrganization", [("educationOrganizationId", number)]),
        ]
        documents, places = self._rows([key.referential_id for key in keys])
        references = _lines(
            f"SELECT document_id, alias_id, {self._reference_columns} FROM reference WHERE document_id = ANY (%s)",
            [list(places)],
        )
        return Model(
            district.school_id(_MODEL),
            documents,
            keys,
            school_keys,
            ((places[int(row)], UUID(target), rest) for row, target, rest in _fields(references)),
            school_ids=self._school_ids(),
        )

    def _rows(self, referential_ids: list[UUID]) -> tuple[list[tuple[str, bytes]], dict[int, int]]:
        """Id and line of the documents with these referential ids, in their order, and the position of each row.

        The rows have no order, since several connections write concurrently.
        """
        lines = _lines(
            f"SELECT a.referential_id, d.id, document_uuid, {self._document_columns}"
            "  FROM alias a JOIN document d ON d.id = a.document_id WHERE a.referential_id = ANY (%s)",
            [referential_ids],
        )
        found = {UUID(id_.decode()): rest for id_, *rest in (line.split(b"\t", 3) for line in lines)}
        ordered = [found[id_] for id_ in referential_ids]
        documents = [(uuid.decode(), line) for _, uuid, line in ordered]
        return documents, {int(row): place for place, (row, _, _) in enumerate(ordered)}

    def _school_ids(self) -> dict[int, str]:
        lines = _lines("SELECT hierarchy[1], document_uuid FROM document WHERE hierarchy IS NOT NULL")
        return {int(school): id_ for school, id_ in (line.decode().split("\t") for line in lines)}

    def _copy(self, model: Model, missing: int) -> None:
        ready: Queue[Copies | BaseException] = Queue(_SCHOOLS_AHEAD)
        Thread(target=_clone, args=(model, _last_row() + 1, missing, ready), daemon=True).start()
        with tqdm(total=missing, unit=" documents", unit_scale=True, disable=not self._is_shown) as progress:
            while missing > 0:
                copies = ready.get()
                if isinstance(copies, BaseException):
                    raise copies
                _send(f"document ({', '.join(_OWN_COLUMNS)}, {self._document_columns})", copies.documents)
                _send("alias (referential_id, document_id)", copies.aliases)
                _send(f"reference (document_id, alias_id, {self._reference_columns})", copies.references)
                missing -= copies.count
                progress.update(copies.count)
        with connection.cursor() as cursor:
            cursor.execute("SELECT setval(pg_get_serial_sequence('document', 'id'), %s)", [_last_row()])


def _lines(query: str, parameters: Sequence[Any] = ()) -> list[bytes]:
    """The rows of a query in the format of COPY."""
    with connection.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT", parameters) as copy:
        return b"".join(copy).splitlines()


def _fields(lines: Iterable[bytes]) -> Iterator[list[str]]:
    return (line.decode().split("\t", 2) for line in lines)


def _clone(model: Model, first_row: int, missing: int, ready: Queue[Copies | BaseException]) -> None:
    """Runs in a thread, so that one school is copied while the next is prepared."""
    try:
        for school in count(_MODEL + 1):
            if missing <= 0:
                return
            copies = model.clone(district.school_id(school), first_row, missing)
            ready.put(copies)
            first_row += copies.count
            missing -= copies.count
    except BaseException as error:
        ready.put(error)


@contextmanager
def _paths_at_the_end() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE document DISABLE TRIGGER document_joins_paths")
        yield
        cursor.execute("INSERT INTO reached_document TABLE authorization_path ON CONFLICT DO NOTHING")
        cursor.execute("ALTER TABLE document ENABLE TRIGGER document_joins_paths")
        cursor.execute("ANALYZE reached_document")


@contextmanager
def _without_indexes(is_shown: bool) -> Iterator[None]:
    """Drops indexes and constraints within the context, and creates them again from their definitions."""
    tables = {"tables": list(TABLES)}
    with connection.cursor() as cursor:
        cursor.execute(_CONSTRAINTS, tables)
        constraints = cursor.fetchall()
        cursor.execute(_INDEXES, tables)
        indexes = cursor.fetchall()
        for table, name, _ in reversed(constraints):
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
    yield
    definitions = [definition for _, definition in indexes]
    definitions += [f"ALTER TABLE {table} ADD CONSTRAINT {name} {text}" for table, name, text in constraints]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL maintenance_work_mem = '1GB'")
        for definition in tqdm(definitions, desc="indexes and constraints", unit="", disable=not is_shown):
            started = time.monotonic()
            cursor.execute(definition)
            if is_shown:
                tqdm.write(f"{time.monotonic() - started:7.1f} s  {definition[:110]}")
        for table in TABLES:
            cursor.execute(f"ANALYZE {table}")


def _send(target: str, lines: bytes) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN") as copy:
        copy.write(lines)


def _columns(table: str, others: tuple[str, ...]) -> str:
    """All columns of a table except these."""
    return _value(_COLUMNS, {"table": table, "others": list(others)})


def _last_row() -> int:
    return _value("SELECT coalesce(max(id), 0) FROM document")


def _number_of_documents() -> int:
    return _value("SELECT count(*) FROM document")


def _value(query: str, parameters: Any = None) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return cursor.fetchone()[0]
