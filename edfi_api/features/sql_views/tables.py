"""Model → the tables that the Ed-Fi ODS has for it, of every project, standard or extension alike.

`edfi_api.model.surface.columns` says which columns a table has; here they get names, an order and types, and the tables
that do not depend on properties join them: descriptors, enumerations, envelopes.

The foreign keys of these tables are known, too: views cannot have any, but their readers join by them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from edfi_api.features.sql_views.bodies import ResourceBodies
from edfi_api.features.sql_views.casts import INTEGER, SMALL_INTEGER, column_type
from edfi_api.features.sql_views.shape import (
    MAX_LENGTH,
    Envelope,
    FixedMember,
    RowKind,
    SqlColumn,
    SqlTable,
    schema_name,
    table_name,
)
from edfi_api.model.metaed.model import (
    CORE_NAMESPACE,
    ENTITY_ADDITIONS_KINDS,
    SUBCLASS_KINDS,
    Entity,
    EntityKey,
    EntityKind,
    Model,
    Property,
    PropertyType,
)
from edfi_api.model.surface.columns import ENUMERATION_SUFFIX, SURROGATE_ID, Column, Table, TableKind, TableName, Tables
from edfi_api.model.surface.declarations import RESOURCE_KINDS, Declarations
from edfi_api.model.surface.identity import Identities
from edfi_api.model.surface.naming import joined_without_overlap, resource_name, with_suffix
from edfi_api.model.surface.path_table import PropertyPath
from edfi_api.model.surface.resource import JsonPath

DISCRIMINATOR = SqlColumn("discriminator", "VARCHAR(128)", Envelope.DISCRIMINATOR, is_nullable=True)
CREATE_DATE = SqlColumn("createdate", "TIMESTAMP", Envelope.CREATE_DATE)
# The columns of the tables whose rows are documents.
DOCUMENT = (
    CREATE_DATE,
    SqlColumn("lastmodifieddate", "TIMESTAMP", Envelope.LAST_MODIFIED_DATE),
    SqlColumn("id", "UUID", Envelope.ID),
    SqlColumn("aggregateid", INTEGER, Envelope.AGGREGATE_ID),
    SqlColumn("aggregatedata", "BYTEA", Envelope.AGGREGATE_DATA, is_nullable=True),
    SqlColumn("changeversion", "BIGINT", Envelope.CHANGE_VERSION),
    SqlColumn("createdbyownershiptokenid", SMALL_INTEGER, Envelope.CREATED_BY_OWNERSHIP, is_nullable=True),
)
_DESCRIPTOR = (
    SqlColumn("descriptorid", INTEGER, FixedMember(), is_key=True),
    SqlColumn("namespace", "VARCHAR(255)", FixedMember("namespace")),
    SqlColumn("codevalue", "VARCHAR(50)", FixedMember("codeValue")),
    SqlColumn("shortdescription", "VARCHAR(75)", FixedMember("shortDescription")),
    SqlColumn("description", "VARCHAR(1024)", FixedMember("description"), is_nullable=True),
    # The API has no member for it.
    SqlColumn("priordescriptorid", INTEGER, None, is_nullable=True),
    SqlColumn("effectivebegindate", "DATE", FixedMember("effectiveBeginDate"), is_nullable=True),
    SqlColumn("effectiveenddate", "DATE", FixedMember("effectiveEndDate"), is_nullable=True),
)
_SCHOOL_YEAR = (
    SqlColumn("schoolyear", SMALL_INTEGER, FixedMember("schoolYear"), is_key=True),
    SqlColumn("schoolyeardescription", "VARCHAR(50)", FixedMember("schoolYearDescription")),
    SqlColumn("currentschoolyear", "BOOLEAN", FixedMember("currentSchoolYear")),
)
# Items of an enumeration are no documents: the columns of the envelope are empty.
_WITHOUT_DOCUMENT = tuple(replace(column, source=None, is_nullable=True) for column in DOCUMENT)
_ROWS = {
    TableKind.MAIN: RowKind.DOCUMENT,
    TableKind.EXTENSION: RowKind.EXTENSION,
    TableKind.COMMON: RowKind.COMMON,
    TableKind.COMMON_EXTENSION: RowKind.COMMON_EXTENSION,
    TableKind.COLLECTION: RowKind.COLLECTION,
}

_EXTENSIONS = (RowKind.EXTENSION, RowKind.COMMON_EXTENSION)


def fixed_tables(model: Model) -> Iterator[SqlTable]:
    """The tables of descriptors, enumerations and school years."""
    descriptors = list(model.of_kind(EntityKind.DESCRIPTOR))
    if descriptors:
        uri = SqlColumn("uri", "VARCHAR(306)", Envelope.URI)
        columns = (*_DESCRIPTOR, replace(DISCRIMINATOR, is_nullable=False), uri, *DOCUMENT)
        yield SqlTable(schema_name(CORE_NAMESPACE), "descriptor", RowKind.ANY_DESCRIPTOR, columns)
    yield from map(_descriptor_table, descriptors)
    for entity in model.of_kind(EntityKind.SCHOOL_YEAR_ENUMERATION):
        yield _table(entity, resource_name(entity), RowKind.SCHOOL_YEAR, (*_SCHOOL_YEAR, *DOCUMENT))
    yield from map(_enumeration_table, model.of_kind(EntityKind.ENUMERATION))


def _descriptor_table(entity: Entity) -> SqlTable:
    name = resource_name(entity)
    key = SqlColumn(f"{name}Id".lower(), INTEGER, FixedMember(), is_key=True)
    return _table(entity, name, RowKind.DESCRIPTOR, (key,))


def _enumeration_table(entity: Entity) -> SqlTable:
    name = with_suffix(entity.name, ENUMERATION_SUFFIX)
    columns = (
        SqlColumn(f"{name}Id".lower(), INTEGER, FixedMember(), is_key=True),
        SqlColumn("codevalue", "VARCHAR(50)", FixedMember("codeValue")),
        SqlColumn("description", "VARCHAR(1024)", FixedMember("description")),
        SqlColumn("shortdescription", "VARCHAR(450)", FixedMember("shortDescription")),
    )
    return _table(entity, name, RowKind.ENUMERATION, (*columns, *_WITHOUT_DOCUMENT))


def _table(entity: Entity, name: str, rows: RowKind, columns: tuple[SqlColumn, ...]) -> SqlTable:
    schema = schema_name(entity.namespace)
    return SqlTable(schema, table_name(TableName((name,))), rows, columns, entity, (), entity.documentation)


class UnusableNames(Exception):
    """Names that PostgreSQL could not keep apart; the arguments say which."""


def sql_tables(model: Model) -> tuple[SqlTable, ...]:
    """The tables of all projects, sorted by schema and name.

    Raises UnusableNames if two tables of a schema or two columns of a table have one name, or a column has a name that
    is longer than PostgreSQL keeps.
    """
    tables = [*fixed_tables(model), *_ModelTables(model).tables()]
    problems = list(_problems(tables))
    if problems:
        raise UnusableNames(*problems)
    return tuple(sorted(tables, key=lambda table: (table.schema, table.name)))


class _ModelTables:
    def __init__(self, model: Model) -> None:
        self._model = model
        self._declarations = Declarations(model)
        self._tables = Tables(self._declarations, Identities(self._declarations))

    def tables(self) -> Iterator[SqlTable]:
        for entity in self._model.of_kind(*RESOURCE_KINDS):
            for table in self._tables.of(entity):
                yield _sql_table(entity, table)
        for additions in self._model.of_kind(*ENTITY_ADDITIONS_KINDS):
            yield from self._of_additions(additions)

    def _of_additions(self, additions: Entity) -> Iterator[SqlTable]:
        main, *nested = self._tables.of(additions)
        if self._has_own_columns(additions):
            yield _sql_table(additions, main)
        for table in nested:
            yield _sql_table(additions, table)
        for prop in additions.properties:
            if prop.is_common_extension:
                yield from self._of_common_extension(additions, prop)

    def _of_common_extension(self, additions: Entity, override: Property) -> Iterator[SqlTable]:
        """The tables of what a project adds to the items of a common; none if it adds nothing to the common, or the
        extended entity does not have it."""
        added, common = self._declarations.common_additions(override), self._common_table(additions, override.full_name)
        if added is None or common is None:
            return
        extension, *nested = self._tables.of_common_extension(override, common)
        if self._has_own_columns(added):
            yield _sql_table(additions, extension)
        for table in nested:
            yield _sql_table(additions, table)

    def _has_own_columns(self, additions: Entity) -> bool:
        """Return whether there is a table besides those of collections and commons. References to the extended entity
        itself have its key, which the table has anyway."""
        return any(
            not (prop.is_collection or prop.type is PropertyType.COMMON or prop.target == additions.base)
            for prop in additions.properties
            if not prop.is_common_extension
        )

    def _common_table(self, additions: Entity, full_name: str) -> Table | None:
        """The table of a common of the extended entity, declared by itself or by its superclass."""
        lineage = [entity for entity in self._model.lineage(additions) if entity.kind in RESOURCE_KINDS]
        tables = (table for entity in lineage for table in self._tables.of(entity))
        return next((table for table in tables if table.path == (full_name,)), None)


def _sql_table(entity: Entity, table: Table) -> SqlTable:
    columns = [_sql_column(column) for column in table.ordered]
    if table.kind is not TableKind.MAIN:
        columns.append(CREATE_DATE)
    elif entity.kind not in SUBCLASS_KINDS:
        columns += [DISCRIMINATOR, *DOCUMENT]
    schema, name = schema_name(entity.namespace), table_name(table.name)
    rows, references = _ROWS[table.kind], tuple(table.references)
    return SqlTable(schema, name, rows, tuple(columns), entity, table.path, entity.documentation, references)


def _sql_column(column: Column) -> SqlColumn:
    name = joined_without_overlap(column.parts).lower()
    type_ = "INT" if column.is_surrogate else column_type(column.prop)
    return SqlColumn(name, type_, column, column.is_key, column.is_nullable, _documentation(column))


def _documentation(column: Column) -> str:
    return f"Number of the person: {SURROGATE_ID}." if column.is_surrogate else column.prop.documentation


def _problems(tables: Iterable[SqlTable]) -> Iterator[str]:
    counts = Counter(str(table) for table in tables)
    for name in (name for name, count in counts.items() if count > 1):
        yield f"{counts[name]} tables have the name {name}"
    for table in tables:
        columns = Counter(column.name for column in table.columns)
        for name, count in columns.items():
            if count > 1:
                yield f"{count} columns of {table} have the name {name}"
            if len(name) > MAX_LENGTH:
                yield f"the name of {table}.{name} has more than {MAX_LENGTH} characters"


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of a table are the `key` of a row of the `target`, each in the order of the target's primary key."""

    columns: tuple[str, ...]
    target: SqlTable
    key: tuple[str, ...]

    def __str__(self) -> str:
        """`calendarcode, schoolid, schoolyear -> edfi.calendar`; with the target's columns if they have other names."""
        names = "" if self.columns == self.key else f" ({', '.join(self.key)})"
        return f"{', '.join(self.columns)} -> {self.target}{names}"


class ForeignKeys:
    """The foreign keys between these tables."""

    def __init__(self, tables: Iterable[SqlTable], bodies: ResourceBodies) -> None:
        self._bodies = bodies
        self._tables: dict[tuple[EntityKey, PropertyPath], SqlTable] = {}
        self._all_descriptors: SqlTable | None = None
        for table in tables:
            if table.rows is RowKind.ANY_DESCRIPTOR:
                self._all_descriptors = table
            elif table.rows not in _EXTENSIONS:
                self._tables[table.owner.key, table.path] = table

    def of(self, table: SqlTable) -> tuple[ForeignKey, ...]:
        """Return the foreign keys of a table: to the table around it or of its base, then in the order of its
        properties, each once.
        """
        found = [*self.around(table), *self._of_references(table)]
        return tuple({str(key): key for key in found}.values())

    def around(self, table: SqlTable) -> Iterator[ForeignKey]:
        """Yield the key to the table around it, or of its base; none of a table that has neither."""
        target = self._all_descriptors if table.rows is RowKind.DESCRIPTOR else self._table_around(table)
        if target is not None:
            own = table.primary_key if table.path == () else target.primary_key
            yield ForeignKey(_as_renamed(own, target.primary_key), target, target.primary_key)

    def _table_around(self, table: SqlTable) -> SqlTable | None:
        """Return the table of what the rows of the table are a part: items of a collection of a document, additions of
        what is extended, documents of a subclass of those of the base.
        """
        if table.entity is None:
            return None
        is_item = table.path and table.rows not in _EXTENSIONS
        longest = len(table.path) - 1 if is_item else len(table.path)
        lineage = list(self._bodies.model.lineage(table.entity))
        keys = ((entity.key, table.path[:length]) for length in range(longest, -1, -1) for entity in lineage)
        return next((found for key in keys if (found := self._tables.get(key)) not in (None, table)), None)

    def _of_references(self, table: SqlTable) -> Iterator[ForeignKey]:
        """A reference of which the table does not hold the whole key has none."""
        for reference in table.references:
            target = self._tables.get((self._bodies.model.target(reference.prop).key, ()))
            columns = [self._holder(table, column) for column in reference.key]
            if target is not None and None not in columns:
                yield ForeignKey(tuple(name for name in columns if name), target, target.primary_key)

    def _holder(self, table: SqlTable, part: Column) -> str | None:
        """The column of the table that holds this part of the key of a reference: its own, or the one with which it is
        merged."""
        sources = [(column.name, column.source) for column in table.columns if isinstance(column.source, Column)]
        for path in part.paths:
            for name, source in sources:
                if path in source.paths:
                    return name
        wanted = self._values(table, part)
        return next((name for name, source in sources if wanted & self._values(table, source)), None)

    def _values(self, table: SqlTable, column: Column) -> set[JsonPath]:
        """Return where a column's values stand in the body."""
        bodies = self._bodies.of(table.owner)[:1]
        found = (body.value(table.owner, path) for body in bodies for path in column.paths)
        return {path for path in found if path is not None}


def _as_renamed(names: tuple[str, ...], key: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a key that is another one with at most one column renamed, in the order of the other."""
    renamed = iter([name for name in names if name not in key])
    return tuple(name if name in names else next(renamed) for name in key)
