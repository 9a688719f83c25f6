"""The SQL that reads the documents of a resource from the tables of an ODS: the mapping of the SQL views, backwards.

A query returns one row for each document: its JSON text, which has the envelope and the members of the body. Of a
document that cannot be here it returns its id and key, and why. An array is a subquery over its table, in the order of
the primary key; so is an object that has a table of its own. Names are quoted and have their schema.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any

from edfi_api.core.documents.json_text import MOST_VALUES
from edfi_api.features.loading.bulk.candidates import ENVELOPE
from edfi_api.features.ods_import.ods_source import HIGHEST_VERSION
from edfi_api.features.sql_views.bodies import ResourceBodies, ResourceBody
from edfi_api.features.sql_views.casts import literal
from edfi_api.features.sql_views.rows import ViewRows
from edfi_api.features.sql_views.shape import Envelope, FixedMember, RowKind, SqlColumn, SqlTable, schema_name
from edfi_api.features.sql_views.tables import ForeignKey, ForeignKeys
from edfi_api.model.metaed.model import Entity, EntityKind, PropertyType
from edfi_api.model.surface.columns import UNIQUE_ID, Column
from edfi_api.model.surface.naming import resource_name
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, Resource, ResourceName

# A function of PostgreSQL takes a hundred arguments.
_MOST_MEMBERS = 50
_EXTENSIONS = (RowKind.EXTENSION, RowKind.COMMON_EXTENSION)
_DESCRIPTORS = '"edfi"."descriptor"'
_TIMESTAMP = """'YYYY-MM-DD"T"HH24:MI:SS.US'"""

# A text of fewer bytes has fewer values than are refused; one of more is refused whatever it has.
_SURELY_FEW_VALUES = MOST_VALUES
_MOST_BYTES = 32 * 2**20
# Each item of an array opens a bracket and, but for the first, follows a comma: with one more there are too many.
_MOST_ITEMS = MOST_VALUES // 2
_TOO_LARGE = f"it has more than {MOST_VALUES:,} values, or {_MOST_BYTES // 2**20} MB"
_NO_TIMESTAMP = "its createdate or lastmodifieddate is no date of the years 1 to 9999"
NO_VERSION = f"its change version is not between 0 and {HIGHEST_VERSION:,}"

# The aliases of the tables of a row, by name of the table.
Aliases = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SourceColumns:
    """The columns of the source: all of them by table, and those whose texts may be longer than the model's.

    `owners` are our clients by the ownership token with which the documents of the source were created. With
    `can_trim`, PostgreSQL has a function that leaves out the zeros with which columns fill up decimals.
    """

    columns: Mapping[str, frozenset[str]]
    unbounded: frozenset[tuple[str, str]] = frozenset()
    owners: Mapping[int, int] = field(default_factory=dict)
    can_trim: bool = True

    def has(self, table: SqlTable, column: str) -> bool:
        return column in self.columns.get(str(table), ())


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """Describes where the documents of a resource are: FROM and WHERE, the row with their envelope, and their JSON.

    `root` is the table with their envelope: that of the base of a subclass. `identity` are its columns with the values
    of the resource's identity, in the order of its paths; `discriminator` is what it calls them, empty if it has no
    others.
    """

    resource: Resource
    source: str
    conditions: tuple[str, ...]
    envelope: str
    document: str
    body: str
    fault: str
    has_versions: bool
    root: SqlTable
    discriminator: str
    identity: tuple[SqlColumn, ...]

    def documents(self, since: int | None = None, part: tuple[int, int] = (0, 1)) -> str:
        """JSON texts, of all documents or those with greater change versions. `part` is the number of a part, from 0,
        and how many there are.

        A row has the text and NULL, or the text of the id and key alone, and why there is no more.
        """
        members = ", ".join(f"{literal(name)}, j -> {literal(name)}" for name in ("id", *self._key_members()))
        return (
            f"SELECT CASE WHEN fault IS NULL THEN text ELSE jsonb_strip_nulls(jsonb_build_object({members}))::text END,"
            f" fault FROM (SELECT j, text, coalesce(fault, CASE WHEN {_IS_TOO_LARGE} THEN {literal(_TOO_LARGE)} END)"
            f" AS fault FROM (SELECT j, j::text AS text, fault FROM (SELECT {self.document} AS j, {self.fault} AS fault"
            f" FROM {self.source}{self._where(since, part)} OFFSET 0) a OFFSET 0) b OFFSET 0) c"
        )

    def _key_members(self) -> Iterator[str]:
        """The members of a body in which the values of the identity stand."""
        yield from dict.fromkeys(path.steps[0] for path in self.resource.identity)

    def has_any(self, since: int | None = None) -> str:
        """Return whether the root table has rows that `documents` might read: cheaper, for resources without any."""
        versions = f" WHERE changeversion > {since:d}" if since is not None and self.has_versions else ""
        return f"SELECT EXISTS (SELECT FROM {_quoted(self.root.schema)}.{_quoted(self.root.name)}{versions})"

    def count(self) -> str:
        return f"SELECT count(*) FROM {self.source}{self._where(None)}"

    def ids(self) -> str:
        return f"SELECT {self.envelope}.id FROM {self.source}{self._where(None)}"

    def bodies(self) -> str:
        """Ids and bodies as JSON texts."""
        return f"SELECT {self.envelope}.id, ({self.body})::text FROM {self.source}{self._where(None)}"

    def _where(self, since: int | None, part: tuple[int, int] = (0, 1)) -> str:
        conditions = list(self.conditions)
        number, parts = part
        if parts > 1:
            conditions.append(f"(uuid_hash({self.envelope}.id) & {2**31 - 1}) % {parts:d} = {number:d}")
        if since is not None and self.has_versions:
            conditions.append(f"{self.envelope}.changeversion > {since:d}")
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def document_queries(
    tables: Sequence[SqlTable], bodies: ResourceBodies, resources: Iterable[Resource], source: SourceColumns
) -> dict[ResourceName, DocumentQuery]:
    """The query of each resource that has documents of its own.

    Raises LookupError for a member that no column has.
    """
    model = _Model(tables, bodies, source)
    queries = {}
    for resource in resources:
        if not resource.is_read_only and resource.name in model.entities:
            queries[resource.name] = _QueryOf(model, resource, model.entities[resource.name]).query()
    return queries


@dataclass(slots=True)
class _Model:
    """The tables, by what they are for."""

    tables: Sequence[SqlTable]
    bodies: ResourceBodies
    source: SourceColumns
    keys: ForeignKeys = field(init=False)
    entities: dict[ResourceName, Entity] = field(init=False)
    placed: dict[int, list[tuple[SqlTable, JsonPath]]] = field(init=False)
    _main: dict[str, SqlTable] = field(init=False)
    _subclasses: dict[str, list[tuple[SqlTable, ForeignKey]]] = field(init=False)

    def __post_init__(self) -> None:
        self.keys = ForeignKeys(self.tables, self.bodies)
        self.entities = self.bodies.entities_by_resource
        self.placed = defaultdict(list)
        self._main = {}
        for table in self.tables:
            if table.entity is not None and not table.path and table.rows not in _EXTENSIONS:
                self._main[str(table.entity.key)] = table
            if table.entity is not None and table.rows in _OF_BODIES:
                rows = ViewRows.of(table, self.bodies.of(table.entity))
                for body in rows.bodies:
                    self.placed[body.number].append((table, rows.objects[body.number]))
        self._subclasses = defaultdict(list)
        for table in self._main.values():
            for key in self.keys.around(table):
                self._subclasses[str(key.target)].append((table, key))

    def main_table(self, entity: Entity) -> SqlTable:
        return self._main[str(entity.key)]

    def descriptors(self) -> SqlTable:
        """The table of all descriptors."""
        return next(table for table in self.tables if table.rows is RowKind.ANY_DESCRIPTOR)

    def subclass_tables(self, table: SqlTable) -> Iterator[tuple[SqlTable, ForeignKey]]:
        """The tables of the subclasses of an entity, each with its key to the entity's table."""
        yield from self._subclasses.get(str(table), ())


_OF_BODIES = (RowKind.DOCUMENT, RowKind.COMMON, RowKind.COLLECTION, *_EXTENSIONS)


class _QueryOf:
    """Composes the query of one resource."""

    def __init__(self, model: _Model, resource: Resource, entity: Entity) -> None:
        self._model = model
        self._resource = resource
        self._entity = entity
        self._numbers = count(1)
        self._leaves: dict[JsonPath, list[tuple[SqlTable, SqlColumn, JsonPath]]] = defaultdict(list)
        self._at: dict[JsonPath, list[SqlTable]] = defaultdict(list)
        self._references = {reference.path for reference in resource.references}
        self._equal = _equal_paths(resource)

    def query(self) -> DocumentQuery:
        if self._resource.is_descriptor or self._entity.kind is EntityKind.SCHOOL_YEAR_ENUMERATION:
            return self._of_fixed()
        (body,) = [body for body in self._model.bodies.of(self._entity) if body.entity.key == self._entity.key]
        self._find_leaves(body)
        main = self._model.main_table(self._entity)
        lineage = list(self._lineage(main))
        aliases = {str(table): self._alias() for table, _ in lineage}
        joins = [_named(main, aliases[str(main)])]
        for (table, key), (above, _) in pairwise(lineage):
            on = self._join(key, aliases[str(table)], aliases[str(above)])
            joins.append(f"JOIN {_named(above, aliases[str(above)])} ON {on}")
        root = lineage[-1][0]
        conditions = tuple(self._is_of_no_subclass(main, aliases[str(main)]))
        members = self._members(self._resource.json_schema, JsonPath(()), (aliases,))
        return self._query(root, aliases[str(root)], " ".join(joins), conditions, members)

    def _of_fixed(self) -> DocumentQuery:
        own = self._model.main_table(self._entity)
        if not self._resource.is_descriptor:
            alias = self._alias()
            return self._query(own, alias, _named(own, alias), (), self._fixed_members(own, alias))
        root, alias, type_ = self._model.descriptors(), self._alias(), self._alias()
        (key,) = own.primary_key
        on = f"{type_}.{_quoted(key)} = {alias}.descriptorid"
        joined = f"{_named(root, alias)} JOIN {_named(own, type_)} ON {on}"
        return self._query(root, alias, joined, (), self._fixed_members(root, alias))

    def _fixed_members(self, table: SqlTable, alias: str) -> list[tuple[str, str]]:
        found = []
        for column in table.columns:
            if isinstance(column.source, FixedMember) and column.source.name:
                self._leaves[JsonPath((column.source.name,))].append((table, column, JsonPath(())))
                found.append((column.source.name, self._text(table, column, alias)))
        return found

    def _query(
        self, root: SqlTable, envelope: str, source: str, conditions: tuple[str, ...], members: list[tuple[str, str]]
    ) -> DocumentQuery:
        kept = [("id", f"{envelope}.id"), (ENVELOPE, self._envelope(root, envelope))]
        of_root = ({str(root): envelope},)
        return DocumentQuery(
            resource=self._resource,
            source=source,
            conditions=conditions,
            envelope=envelope,
            document=f"jsonb_strip_nulls({_object([*kept, *members])})",
            body=f"jsonb_strip_nulls({_object(members)})",
            fault=self._fault(root, envelope),
            has_versions=self._model.source.has(root, Envelope.CHANGE_VERSION),
            root=root,
            discriminator=self._discriminator(root),
            identity=tuple(self._column(path, of_root)[1] for path in self._resource.identity),
        )

    def _discriminator(self, root: SqlTable) -> str:
        if root.entity is not None and root.entity.key == self._entity.key and not self._resource.is_descriptor:
            return ""
        return f"{schema_name(self._entity.namespace)}.{resource_name(self._entity)}"

    def _envelope(self, root: SqlTable, alias: str) -> str:
        values = {
            "created": _timestamp(f"{alias}.createdate"),
            "modified": _timestamp(f"{alias}.lastmodifieddate"),
        }
        if self._model.source.has(root, Envelope.CHANGE_VERSION):
            values["version"] = f"{alias}.changeversion"
        owners = self._model.source.owners
        if owners and self._model.source.has(root, Envelope.CREATED_BY_OWNERSHIP):
            cases = " ".join(f"WHEN {token:d} THEN {client:d}" for token, client in sorted(owners.items()))
            values["owner"] = f"CASE {alias}.createdbyownershiptokenid {cases} END"
        return _object(list(values.items()))

    def _fault(self, root: SqlTable, alias: str) -> str:
        """Return why a row cannot be a document here, whatever its body is; NULL if it can."""
        timestamps = " AND ".join(is_timestamp(f"{alias}.{name}") for name in ("createdate", "lastmodifieddate"))
        cases = [f"WHEN NOT ({timestamps}) THEN {literal(_NO_TIMESTAMP)}"]
        if self._model.source.has(root, Envelope.CHANGE_VERSION):
            version = f"{alias}.changeversion"
            cases.append(f"WHEN NOT {version} BETWEEN 0 AND {HIGHEST_VERSION} THEN {literal(NO_VERSION)}")
        return f"CASE {' '.join(cases)} END"

    def _lineage(self, main: SqlTable) -> Iterator[tuple[SqlTable, ForeignKey | None]]:
        """The table of an entity, then those of its bases, each with its key to the next."""
        key = next(self._model.keys.around(main), None)
        yield main, key
        if key is not None:
            yield from self._lineage(key.target)

    def _is_of_no_subclass(self, main: SqlTable, alias: str) -> Iterator[str]:
        for table, key in self._model.subclass_tables(main):
            inner = self._alias()
            yield f"NOT EXISTS (SELECT FROM {_named(table, inner)} WHERE {self._join(key, inner, alias)})"

    def _find_leaves(self, body: ResourceBody) -> None:
        """Find which columns have the value at each path, the best first: one whose own value it is."""
        ranked: dict[JsonPath, list[tuple[tuple[bool, bool, int], SqlTable, SqlColumn, JsonPath]]] = defaultdict(list)
        for table, place in self._model.placed[body.number]:
            self._at[place].append(table)
            for column in table.columns:
                if not isinstance(column.source, Column):
                    continue
                for number, property_path in enumerate(column.source.paths):
                    path = body.value(table.owner, property_path)
                    if path is not None:
                        is_outside = path.steps[: len(place.steps)] != place.steps
                        rank = (is_outside, column.source.is_surrogate, number - 100 * len(place.steps))
                        ranked[path].append((rank, table, column, place))
        for path, found in ranked.items():
            found.sort(key=lambda entry: entry[0])
            self._leaves[path] = [(table, column, place) for _, table, column, place in found]

    def _members(self, schema: Mapping[str, Any], path: JsonPath, scope: tuple[Aliases, ...]) -> list[tuple[str, str]]:
        found = []
        for name, member in schema["properties"].items():
            match member["type"]:
                case "object":
                    value = self._object(member, path / name, scope)
                case "array":
                    value = self._array(member, path / name, scope)
                case _:
                    value = self._leaf(path / name, scope)
            if value:
                found.append((name, value))
        return found

    def _object(self, schema: Mapping[str, Any], path: JsonPath, scope: tuple[Aliases, ...]) -> str:
        tables = self._at.get(path, [])
        if not tables:
            if path in self._references:
                return self._reference(schema, path, scope)
            members = self._members(schema, path, scope)
            return _without_members_absent(members) if members else ""
        (table,) = tables
        alias, on = self._joined(table, scope)
        members = self._members(schema, path, (*scope[:-1], {**scope[-1], str(table): alias}))
        if table.rows in _EXTENSIONS:
            one = f"(SELECT) AS one LEFT JOIN {_named(table, alias)} ON {on}"
            return f"(SELECT {_without_members_absent(members)} FROM {one})"
        return f"(SELECT {_object(members)} FROM {_named(table, alias)} WHERE {on})"

    def _reference(self, schema: Mapping[str, Any], path: JsonPath, scope: tuple[Aliases, ...]) -> str:
        """Absent if a part of the key is null."""
        columns = [self._column(path / name, scope) for name in schema["properties"]]
        conditions = " AND ".join(f"{alias}.{_quoted(column.name)} IS NOT NULL" for _, column, alias in columns)
        return f"CASE WHEN {conditions} THEN {_object(self._members(schema, path, scope))} END"

    def _array(self, schema: Mapping[str, Any], path: JsonPath, scope: tuple[Aliases, ...]) -> str:
        items = path / ALL_ITEMS
        if items not in self._at:
            raise LookupError(f"{self._resource.name.resource} has no table for {items}")
        (table,) = self._at[items]
        alias, on = self._joined(table, scope)
        members = self._members(schema["items"], items, (*scope, {str(table): alias}))
        order = ", ".join(f"{alias}.{_quoted(name)}" for name in table.primary_key)
        items_in_order = f"SELECT {_object(members)} AS item FROM {_named(table, alias)} WHERE {on} ORDER BY {order}"
        return f"(SELECT jsonb_agg(item) FROM ({items_in_order} LIMIT {_MOST_ITEMS + 1}) AS {self._alias()})"

    def _joined(self, table: SqlTable, scope: tuple[Aliases, ...]) -> tuple[str, str]:
        """A new alias, and how the rows of a table belong to those around them."""
        alias, key = self._alias(), next(self._model.keys.around(table))
        around = next(level[str(key.target)] for level in reversed(scope) if str(key.target) in level)
        return alias, self._join(key, alias, around)

    def _join(self, key: ForeignKey | None, alias: str, around: str) -> str:
        assert key is not None  # noqa: S101  The caller has one.
        pairs = zip(key.columns, key.key, strict=True)
        return " AND ".join(f"{alias}.{_quoted(own)} = {around}.{_quoted(other)}" for own, other in pairs)

    def _leaf(self, path: JsonPath, scope: tuple[Aliases, ...]) -> str:
        return self._text(*self._column(path, scope))

    def _column(self, path: JsonPath, scope: tuple[Aliases, ...]) -> tuple[SqlTable, SqlColumn, str]:
        """The column of a value, with the alias of its table."""
        for wanted in (path, *self._equal.get(path, ())):
            for level in reversed(scope):
                for table, column, _ in self._leaves.get(wanted, ()):
                    if str(table) in level:
                        return table, column, level[str(table)]
        raise LookupError(f"{self._resource.name.resource} has no column for {path}")

    def _text(self, table: SqlTable, column: SqlColumn, alias: str) -> str:
        """The value of a column as it is in the JSON of a document."""
        value = f"{alias}.{_quoted(column.name)}"
        match column.source:
            case Column() if column.source.is_surrogate:
                return self._unique_id(column.source, value)
            case Column():
                return self._scalar(table, column, column.source, value)
            case _ if column.type == "DATE":
                return f"{value}::text"
        return self._bounded(table, column, value)

    def _scalar(self, table: SqlTable, column: SqlColumn, source: Column, value: str) -> str:
        match source.prop.type:
            case PropertyType.DESCRIPTOR:
                uri = "d.namespace || '#' || d.codevalue"
                read = _found(f"SELECT {uri} FROM {_DESCRIPTORS} AS d WHERE d.descriptorid = {value}", value)
            case PropertyType.ENUMERATION:
                items = self._model.main_table(self._model.bodies.model.target(source.prop))
                (key,) = items.primary_key
                where = f"d.{_quoted(key)} = {value}"
                read = _found(f"SELECT d.codevalue FROM {_named(items, 'd')} WHERE {where}", value)
            case PropertyType.CURRENCY:
                read = self._trimmed(f"{value}::numeric")
            case PropertyType.DECIMAL | PropertyType.SHARED_DECIMAL | PropertyType.PERCENT:
                read = self._trimmed(value)
            case PropertyType.DATE:
                # `infinity` and years of more digits are then refused, not left out.
                read = f"{value}::text"
            case PropertyType.DATETIME:
                timestamp = f"rtrim(rtrim(to_char({value}, {_TIMESTAMP}), '0'), '.') || 'Z'"
                read = f"CASE WHEN {is_timestamp(value)} THEN {timestamp} ELSE {value}::text END"
            case _:
                read = self._bounded(table, column, value)
        return read

    def _trimmed(self, value: str) -> str:
        return f"trim_scale({value})" if self._model.source.can_trim else value

    def _bounded(self, table: SqlTable, column: SqlColumn, value: str) -> str:
        """A text of no more characters than show that it is too long."""
        if (str(table), column.name) not in self._model.source.unbounded:
            return value
        length = int(column.type.partition("(")[2].rstrip(")"))
        return f"left({value}, {length + 1})"

    def _unique_id(self, source: Column, value: str) -> str:
        person = self._model.main_table(self._model.bodies.model.entities[source.prop.declared_by])
        (usi,) = person.primary_key
        (unique_id,) = [
            column.name
            for column in person.columns
            if isinstance(column.source, Column)
            and not column.source.is_surrogate
            and column.source.prop.name == UNIQUE_ID
        ]
        where = f"p.{_quoted(usi)} = {value}"
        return _found(f"SELECT p.{_quoted(unique_id)} FROM {_named(person, 'p')} WHERE {where}", value)

    def _alias(self) -> str:
        return f"t{next(self._numbers)}"


def _found(query: str, number: str) -> str:
    """Return what a number leads to; the number itself, which is then refused, if it leads nowhere."""
    return f"coalesce(({query}), '#' || {number})"


def _equal_paths(resource: Resource) -> dict[JsonPath, tuple[JsonPath, ...]]:
    """The other paths whose values are equal to that of each path."""
    groups: dict[JsonPath, set[JsonPath]] = {}
    for rule in resource.equality_constraints:
        group = groups.get(rule.source, {rule.source}) | groups.get(rule.target, {rule.target})
        groups |= dict.fromkeys(group, group)
    return {path: tuple(sorted(group - {path})) for path, group in groups.items()}


def _without_members_absent(members: list[tuple[str, str]]) -> str:
    """An object that is absent if all its members are."""
    return f"nullif(jsonb_strip_nulls({_object(members)}), '{{}}')"


def _object(members: Sequence[tuple[str, str]]) -> str:
    parts = [members[start : start + _MOST_MEMBERS] for start in range(0, len(members), _MOST_MEMBERS)]
    built = [f"jsonb_build_object({', '.join(f'{literal(name)}, {value}' for name, value in part)})" for part in parts]
    return " || ".join(built) or "'{}'::jsonb"


# Sizes are counted as those of bodies of requests (`documents.json_object`).
_IS_TOO_LARGE = (
    f"octet_length(text) >= {_SURELY_FEW_VALUES} AND (octet_length(text) > {_MOST_BYTES}"
    f" OR octet_length(text) - octet_length(translate(text, ',[{{', '')) >= {MOST_VALUES})"
)


def is_timestamp(value: str) -> str:
    """Return whether a time, if there is one, is of a year that a date can have."""
    return f"({value} IS NULL OR {value} >= '0001-01-01' AND {value} < '10000-01-01')"


def _timestamp(value: str) -> str:
    return f"to_char({value}, {_TIMESTAMP}) || 'Z'"


def _named(table: SqlTable, alias: str) -> str:
    return f"{_quoted(table.schema)}.{_quoted(table.name)} AS {alias}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
