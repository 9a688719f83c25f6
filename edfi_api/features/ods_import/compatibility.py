"""Whether a source is compatible with the served model, and what it has in addition."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from edfi_api.common.conf import BUNDLED_STANDARDS, api_settings, bundled_standards
from edfi_api.common.logs.printable import counted
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.features.loading.mapping.translation import UnmappedPlace
from edfi_api.features.ods_import.document_queries import DocumentQuery, SourceColumns, document_queries
from edfi_api.features.ods_import.ods_source import Incompatible, OdsSource, quoted, quoted_name
from edfi_api.features.sql_views.bodies import ResourceBodies
from edfi_api.features.sql_views.shape import Envelope, RowKind, SqlTable, schema_name
from edfi_api.features.sql_views.tables import ForeignKeys, sql_tables
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.surface.resource import ResourceName, Surface

# Columns that a source of another version or with other features does not have, and without which it is read.
_DISPENSABLE = frozenset(
    {
        Envelope.DISCRIMINATOR,
        Envelope.URI,
        Envelope.AGGREGATE_ID,
        Envelope.AGGREGATE_DATA,
        Envelope.CHANGE_VERSION,
        Envelope.CREATED_BY_OWNERSHIP,
    }
)
# Schemas that an ODS has for itself: changes are read by `recorded_changes`, authorization is derived from documents.
_OF_THE_ODS = re.compile(r"(auth|changes|dbo|public|util|tracked_changes_.*|tracked_deletes_.*)\Z")
# Documents know nothing of this schema.
_INTEROP = "interop"
_WITH_TRIM_SCALE = 130_000
_SOURCE = "ODS"
_UNREADABLE = "the role may not read it"
_NO_PLACE = "the served model has no place for it"
_BOUNDED = re.compile(r"character(?: varying)?\((\d+)\)\Z")
_VARCHAR = re.compile(r"VARCHAR\((\d+)\)\Z")


@dataclass(frozen=True)
class ServedModel:
    """The served surface, its tables, and the bodies of its resources."""

    surface: Surface
    tables: tuple[SqlTable, ...]
    bodies: ResourceBodies

    @classmethod
    def current(cls, using: str) -> ServedModel:
        """Return the model of the configured projects."""
        model = compile_projects(list(api_settings.model_sources))
        surface = current_surface()
        return cls(surface, sql_tables(model), ResourceBodies(model, surface, resource_types.numbers(using)))

    @cached_property
    def foreign_keys(self) -> ForeignKeys:
        return ForeignKeys(self.tables, self.bodies)

    @cached_property
    def projects(self) -> dict[str, str]:
        """The names of the projects by the schemas of their tables."""
        return {schema_name(project.namespace): project.name for project in self.bodies.model.projects}

    @cached_property
    def by_name(self) -> dict[str, SqlTable]:
        return {str(table): table for table in self.tables}


@dataclass(frozen=True)
class UnmappedRows:
    """Something with values of which no document can have a place: a table or a column. Without `rows` it is a table
    that may not be read."""

    table: str
    column: str
    rows: int

    @property
    def place(self) -> UnmappedPlace:
        """Return the place for the report of a pass."""
        return UnmappedPlace(_SOURCE, self.table, self.column or "all columns", self._reason)

    def __str__(self) -> str:
        where = f"{self.table}.{self.column}" if self.column else self.table
        what = "rows with a value" if self.column else "rows"
        return f"{where}: {f'{self.rows:,} {what}; ' if self.rows else ''}{self._reason}"

    @property
    def _reason(self) -> str:
        return _NO_PLACE if self.rows else f"{_UNREADABLE}, and {_NO_PLACE}"


@dataclass(frozen=True)
class UnservedExtension:
    """A schema of the source whose project is not served: how many tables have rows, and how many may not be read."""

    schema: str
    tables: int
    rows: int
    unreadable: int

    @property
    def place(self) -> UnmappedPlace:
        """Return the place for the report of a pass."""
        return UnmappedPlace(_SOURCE, self.schema, "all tables", "the extension is not served")

    def __str__(self) -> str:
        unreadable = f" and {counted(self.unreadable, 'table')} that may not be read" if self.unreadable else ""
        return (
            f"extension {self.schema}: {self.rows:,} rows in {counted(self.tables, 'table')}{unreadable}; it is not"
            " served: MEADOWLARK_EXTENSIONS has to name its project"
        )


def incompatibility(model: ServedModel, source: OdsSource) -> Incompatible | None:
    """Return what the model needs and the source does not have, if anything."""
    missing = list(_missing(model.tables, source))
    if not missing:
        return None
    schemas = {table.partition(".")[0] for table in source.tables}
    extensions = sorted(name for schema, name in model.projects.items() if schema not in schemas)
    # What has none of the schemas is no ODS, and resembles no standard.
    standard = resembled_standard(source) if schemas & model.projects.keys() else ""
    is_served = model.surface.core_project.version.startswith(standard)
    return Incompatible(missing, extensions, "" if is_served else standard)


def resembled_standard(source: OdsSource) -> str:
    """The bundled data standard that has most of the source's tables and columns, and least of others."""
    return min(bundled_standards(), key=partial(_differences, source))


def _differences(source: OdsSource, standard: str) -> int:
    tables = sql_tables(compile_projects([BUNDLED_STANDARDS / standard]))
    schemas, names = {table.schema for table in tables}, {str(table) for table in tables}
    unknown = sum(table.partition(".")[0] in schemas and table not in names for table in source.tables)
    return unknown + sum(1 for _ in _missing(tables, source))


def _missing(tables: Iterable[SqlTable], source: OdsSource) -> Iterator[str]:
    """Tables and columns that the source does not have."""
    for table in tables:
        if table.rows is RowKind.ENUMERATION:
            continue
        columns = source.tables.get(str(table))
        if columns is None:
            yield str(table)
            continue
        for column in table.columns:
            if column.name not in columns and column.source not in _DISPENSABLE:
                yield f"{table}.{column.name}"


def queries(
    model: ServedModel, source: OdsSource, owners: Mapping[int, int] | None = None
) -> dict[ResourceName, DocumentQuery]:
    """The query of each resource. Raises Incompatible."""
    if found := incompatibility(model, source):
        raise found
    columns = {table: frozenset(found) for table, found in source.tables.items()}
    too_long = frozenset((table, column) for table, column, _ in unbounded(model, source))
    known = SourceColumns(columns, too_long, owners or {}, source.connection.info.server_version >= _WITH_TRIM_SCALE)
    return document_queries(model.tables, model.bodies, model.surface.resources, known)


def unbounded(model: ServedModel, source: OdsSource) -> Iterator[tuple[str, str, int]]:
    """Tables and columns whose texts may be longer in the source than in the model, and their length there."""
    for table in model.tables:
        types = source.tables.get(str(table), {})
        for column in table.columns:
            limit, bound = _VARCHAR.match(column.type), _BOUNDED.match(types.get(column.name, ""))
            if limit and column.name in types and not (bound and int(bound[1]) <= int(limit[1])):
                yield str(table), column.name, int(limit[1])


def unserved_extensions(model: ServedModel, source: OdsSource) -> Iterator[UnservedExtension]:
    """Yield the extensions that have rows, or tables that may not be read."""
    by_schema: dict[str, list[str]] = defaultdict(list)
    for table in source.tables:
        schema = table.partition(".")[0]
        if is_of_a_project(schema) and schema not in model.projects:
            by_schema[schema].append(table)
    for schema, tables in sorted(by_schema.items()):
        readable = list(filter(source.may_read, tables))
        rows = [_count(source, table, "true") for table in readable if source.has_rows(table)]
        if rows or len(readable) < len(tables):
            yield UnservedExtension(schema, len(rows), sum(rows), len(tables) - len(readable))


def is_of_a_project(schema: str) -> bool:
    """Return whether it has the tables of a data standard or of an extension."""
    return schema != _INTEROP and not _OF_THE_ODS.match(schema)


def unmapped_rows(model: ServedModel, source: OdsSource) -> Iterator[UnmappedRows]:
    """Yield what the source has in schemas of the model, and the model does not, with the numbers of values, if any."""
    for table, columns in sorted(source.tables.items()):
        schema = table.partition(".")[0]
        if schema != _INTEROP and schema not in model.projects:
            continue
        known = model.by_name.get(table)
        if known is None:
            if not source.may_read(table):
                yield UnmappedRows(table, "", 0)
            elif source.has_rows(table):
                yield UnmappedRows(table, "", _count(source, table, "true"))
            continue
        names = {column.name for column in known.columns if column.source is not None}
        for column in columns:
            is_unknown = column not in names and column not in (each.value for each in Envelope)
            if is_unknown and (count := _count(source, table, f"{quoted_name(column)} IS NOT NULL")):
                yield UnmappedRows(table, column, count)
    yield from _without_subclass(model, source)


def _without_subclass(model: ServedModel, source: OdsSource) -> Iterator[UnmappedRows]:
    """Rows of an abstract base, or descriptors, of a type that no table of the model has."""
    for table in model.tables:
        is_abstract = table.entity is not None and table.entity.is_abstract and not table.path
        is_base = table.rows is RowKind.ANY_DESCRIPTOR or (is_abstract and table.rows is RowKind.DOCUMENT)
        if not is_base or str(table) not in source.tables:
            continue
        subclasses = [each for each in _subclasses(model, table) if str(each[0]) in source.tables]
        conditions = (
            "NOT EXISTS (SELECT FROM {} s WHERE {})".format(
                quoted(str(other)),
                " AND ".join(f"s.{quoted_name(own)} = t.{quoted_name(base)}" for own, base in pairs),
            )
            for other, pairs in subclasses
        )
        count = _count(source, str(table), " AND ".join(conditions) or "true", "t")
        if count:
            yield UnmappedRows(f"{table} without a row of its type", "", count)


def _subclasses(model: ServedModel, table: SqlTable) -> Iterator[tuple[SqlTable, list[tuple[str, str]]]]:
    keys = model.foreign_keys
    for other in model.tables:
        if other.entity is not None and not other.path and other.rows in (RowKind.DOCUMENT, RowKind.DESCRIPTOR):
            for key in keys.around(other):
                if key.target is table:
                    yield other, list(zip(key.columns, key.key, strict=True))


def _count(source: OdsSource, table: str, condition: str, alias: str = "t") -> int:
    return int(source.rows(f"SELECT count(*) FROM {quoted(table)} AS {alias} WHERE {condition}")[0][0])
