"""Tables → the SELECT of a view for each: the rows and columns of the table, read from the bodies of documents, with
joins of persons for the numbers of their rows (USI).

Every view is read-only by construction: a view of one table alone is updatable in PostgreSQL, and deleting through it
would bypass the API. So each has a second FROM item; where nothing else is joined, an empty one that the planner
removes. WITH, OFFSET 0 and DISTINCT would do the same, but keep conditions from being pushed down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from edfi_api.core.documents.securables import SecurableKind
from edfi_api.features.sql_views import casts
from edfi_api.features.sql_views.bodies import IS_NUMBERED_PERSON, PEOPLE, ResourceBodies, ResourceBody
from edfi_api.features.sql_views.rows import Steps, ViewRows, of_types
from edfi_api.features.sql_views.shape import Envelope, FixedMember, RowKind, SqlColumn, SqlTable, schema_name
from edfi_api.features.sql_views.tables import ForeignKey, ForeignKeys
from edfi_api.model.metaed.model import SUBCLASS_KINDS, Entity, EntityKind, Property, PropertyType
from edfi_api.model.surface.columns import Column
from edfi_api.model.surface.naming import resource_name
from edfi_api.model.surface.resource import JsonPath

ENVELOPE = {
    Envelope.CREATE_DATE: "d.created_at AT TIME ZONE 'UTC'",
    Envelope.LAST_MODIFIED_DATE: "d.last_modified_at AT TIME ZONE 'UTC'",
    Envelope.ID: "d.document_uuid",
    Envelope.AGGREGATE_ID: "(d.id & 2147483647)::integer",
    Envelope.AGGREGATE_DATA: "NULL::bytea",
    Envelope.CHANGE_VERSION: "d.change_version",
    Envelope.CREATED_BY_OWNERSHIP: "NULL::smallint",
}
ROW_NUMBER = "d.id::integer"
_ROWS_OF_THE_MODEL = frozenset(
    {RowKind.DOCUMENT, RowKind.COMMON, RowKind.COLLECTION, RowKind.EXTENSION, RowKind.COMMON_EXTENSION}
)
READ_ONLY = "CROSS JOIN (SELECT) AS read_only"


@dataclass(frozen=True, slots=True)
class Person:
    """An entity that is identified by a unique id: `kind` if it is one whose numbers are columns of `document`, else
    by the member `unique_id` of the documents of the resource type `number`."""

    kind: SecurableKind | None
    number: int = 0
    unique_id: str = ""

    @classmethod
    def of(cls, body: ResourceBody) -> Person:
        """The person that documents with these bodies are."""
        return cls(body.person, body.number, body.resource.identity[0].steps[0])

    def condition(self, alias: str, value: str) -> str:
        """Find the person of this unique id; of the columns of `document_person` those before the person's own are
        NULL, which lets the index serve the join."""
        if self.kind is None:
            of_type = f"{alias}.resource_type_id = {self.number}"
            return f"{of_type} AND {casts.text(f'{alias}.body', (self.unique_id,))} = {value}"
        others = (f" AND {alias}.{kind} IS NULL" for kind in PEOPLE[: PEOPLE.index(self.kind)])
        return f"{IS_NUMBERED_PERSON.format(alias)}{''.join(others)} AND {alias}.{self.kind} = {value}"


@dataclass(slots=True)
class PersonJoins:
    """The joins of one view: one for each person that it refers to."""

    _aliases: dict[tuple[Person, str], str] = field(default_factory=dict)

    def usi(self, person: Person, value: str) -> str:
        """The number of the person whose unique id is the value of this expression."""
        alias = self._aliases.setdefault((person, value), f"p{len(self._aliases) + 1}")
        return f"{alias}.id::integer"

    def clauses(self) -> Iterator[str]:
        for (person, value), alias in self._aliases.items():
            yield f"LEFT JOIN public.document {alias} ON {person.condition(alias, value)}"


@dataclass(slots=True)
class Columns:
    """The expressions of the columns of one table; collects the joins that they need."""

    table: SqlTable
    rows: ViewRows
    bodies: ResourceBodies
    joins: PersonJoins = field(default_factory=PersonJoins)

    def expression(self, column: SqlColumn) -> str:
        """The value of the column, in its type. Raises LookupError for a property path that a body does not have."""
        match column.source:
            case Envelope.DISCRIMINATOR:
                return self._discriminator()
            case Envelope():
                return ENVELOPE[column.source]
            case Column() if column.source.is_surrogate:
                return self._usi(column, column.source)
            case Column():
                source = column.source
                return self.rows.by_type({body.number: self._value(body, column, source) for body in self.rows.bodies})
        raise LookupError(f"{self.table}.{column.name} is not read from a body")

    def code_value(self, column: SqlColumn) -> str:
        """The code value of the descriptor of this column, which is read from its URI without looking it up."""
        source = column.source
        if not isinstance(source, Column):
            raise LookupError(f"{self.table}.{column.name} is no property")
        return self.rows.by_type(
            {
                body.number: self._read(body, self._paths(body, column, source), casts.code_value)
                for body in self.rows.bodies
            }
        )

    def _value(self, body: ResourceBody, column: SqlColumn, source: Column) -> str:
        paths = self._paths(body, column, source)
        if body.resource.organization is not None and paths == [body.resource.organization.id]:
            return f"d.hierarchy[1]::{column.type}"
        if self._is_held(body, paths, SecurableKind.ORGANIZATION):
            return f"d.organization::{column.type}"
        person = body.person
        if person is not None and paths == [*body.securables[person]]:
            # With a length, no index would serve a search for it.
            return f"d.{person}::varchar"
        return self._read(body, paths, self._reader(column, source.prop))

    def _paths(self, body: ResourceBody, column: SqlColumn, source: Column) -> list[JsonPath]:
        """The paths of the values that share the column; one that is always there suffices unless it can be null."""
        found = (body.value(self.table.owner, path) for path in source.paths)
        paths = list(dict.fromkeys(path for path in found if path is not None))
        if not paths:
            raise LookupError(f"{self.table}.{column.name}: {body.resource.name.resource} has no {source.path}")
        certain = [path for path in paths if body.is_always_there(path, self.rows.enclosing(body, path))]
        return certain[:1] if certain and not column.is_nullable else paths

    def _is_held(self, body: ResourceBody, paths: list[JsonPath], kind: SecurableKind) -> bool:
        """Return whether the column of this name in `document` has the value at these paths."""
        held = body.securables.get(kind, frozenset())
        is_certain = len(paths) == 1 and body.is_always_there(paths[0], JsonPath(()))
        return held == set(paths) or (is_certain and paths[0] in held)

    def _read(self, body: ResourceBody, paths: list[JsonPath], reader: Callable[[str, Steps], str]) -> str:
        values = [self.rows.read(body, path, reader) for path in paths]
        return values[0] if len(values) == 1 else f"coalesce({', '.join(values)})"

    def _reader(self, column: SqlColumn, prop: Property) -> Callable[[str, Steps], str]:
        match prop.type:
            case PropertyType.DESCRIPTOR:
                number = self.bodies.number(self.bodies.model.target(prop))
                return lambda base, steps: _descriptor_id(number, casts.text(base, steps))
            case PropertyType.ENUMERATION:
                items = [item.value for item in self.bodies.model.target(prop).items]
                return lambda base, steps: _item_number(items, casts.text(base, steps))
            case _:
                return lambda base, steps: casts.cast(base, steps, prop, column.type)

    def _usi(self, column: SqlColumn, source: Column) -> str:
        declared_by = self.bodies.model.entities[source.prop.declared_by]
        (person,) = self.bodies.of(declared_by)
        owner = self.table.owner
        if declared_by.key in (owner.key, owner.base) and len(source.path) == 1:
            return ROW_NUMBER
        unique_ids = {body.number: self._unique_id(body, column, source) for body in self.rows.bodies}
        return self.joins.usi(Person.of(person), self.rows.by_type(unique_ids))

    def _unique_id(self, body: ResourceBody, column: SqlColumn, source: Column) -> str:
        paths = self._paths(body, column, source)
        held = next((kind for kind in PEOPLE if self._is_held(body, paths, kind)), None)
        return f"d.{held}" if held is not None else self._read(body, paths, casts.text)

    def _discriminator(self) -> str:
        """`edfi.School` of a subclass in the table of its base, NULL of a document that is of no subclass."""
        names = {
            body.number: casts.literal(f"{schema_name(body.entity.namespace)}.{body.entity.name}")
            if body.entity.kind in SUBCLASS_KINDS
            else "NULL"
            for body in self.rows.bodies
        }
        return f"({self.rows.by_type(names)})::varchar(128)"


def _descriptor_id(number: int, value: str) -> str:
    """The row of a descriptor: all of its type are gathered once per query, which PostgreSQL leaves out of a plan that
    does not need the column."""
    uri = "concat(x.body->>'namespace', '#', x.body->>'codeValue')"
    rows = f"SELECT jsonb_object_agg({uri}, x.id) FROM public.document x WHERE x.resource_type_id = {number}"
    return f"(({rows})->{value})::integer"


def _item_number(items: list[str], value: str) -> str:
    return f"array_position(ARRAY[{', '.join(map(casts.literal, items))}]::text[], {value})"


@dataclass(frozen=True, slots=True)
class View:
    """A view: its columns with their expressions, and its source, FROM and WHERE.

    `table` is the table of the ODS that it stands for, None for other views; `texts` are the columns that it has in
    addition to those of the table. A `keyword` can stand before the columns. If its rows are documents `d`, or parts of
    them, `resource_types` are the numbers of theirs.
    """

    schema: str
    name: str
    columns: tuple[tuple[str, str], ...]
    source: str
    table: SqlTable | None = None
    keyword: str = ""
    resource_types: tuple[int, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    texts: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def select(self) -> str:
        values = ",\n       ".join(f"{expression} AS {name}" for name, expression in self.columns)
        return f"SELECT {self.keyword}{values}\n  {self.source}"


def views(tables: Sequence[SqlTable], bodies: ResourceBodies) -> Iterator[View]:
    """A view for each table, and one with texts for each that has a descriptor. Raises LookupError for a column whose
    property path no body has."""
    foreign_keys = ForeignKeys(tables, bodies)
    for table in tables:
        view = replace(_of_table(table, bodies), foreign_keys=foreign_keys.of(table))
        yield view
        texts = _texts(table, bodies)
        if texts:
            yield _with_texts(view, texts)


def _texts(table: SqlTable, bodies: ResourceBodies) -> dict[str, tuple[str, str]]:
    """Return by the column with the number of a descriptor: the name and the expression of the column with its text."""
    rows = ViewRows.of(table, bodies.of(table.owner)) if table.rows in _ROWS_OF_THE_MODEL else None
    if rows is None or not rows.bodies:
        return {}
    columns, names = Columns(table, rows, bodies), {column.name for column in table.columns}
    return {
        column.name: (name, columns.code_value(column))
        for column in table.columns
        if isinstance(column.source, Column) and column.source.prop.type is PropertyType.DESCRIPTOR
        if (name := column.name.removesuffix("id")) not in names
    }


def _with_texts(view: View, texts: Mapping[str, tuple[str, str]]) -> View:
    """Return a view with the same rows and columns, and after each number of a descriptor its code value."""
    columns = (each for column in view.columns for each in (column, texts.get(column[0])) if each is not None)
    names = frozenset(name for name, _ in texts.values())
    return replace(view, schema=f"{view.schema}_text", columns=tuple(columns), foreign_keys=(), texts=names)


def _of_table(table: SqlTable, bodies: ResourceBodies) -> View:
    match table.rows:
        case RowKind.ENUMERATION:
            return _enumeration(table)
        case RowKind.ANY_DESCRIPTOR | RowKind.DESCRIPTOR | RowKind.SCHOOL_YEAR:
            return _fixed(table, bodies)
        case _:
            return _model_table(table, bodies)


def _model_table(table: SqlTable, bodies: ResourceBodies) -> View:
    rows = ViewRows.of(table, bodies.of(table.owner))
    if not rows.bodies:
        return _empty(table)
    columns = Columns(table, rows, bodies)
    values = [(column.name, columns.expression(column)) for column in table.columns]
    joined = [*rows.from_clauses(), *columns.joins.clauses()]
    return _view(table, values, joined, rows.conditions(), sorted(body.number for body in rows.bodies))


def _empty(table: SqlTable) -> View:
    """The table of something that no document has, such as additions to an abstract entity."""
    values = [(column.name, f"NULL::{column.type}") for column in table.columns]
    return _view(table, values, ["public.document d"], ["false"])


def _fixed(table: SqlTable, bodies: ResourceBodies) -> View:
    if table.rows is RowKind.ANY_DESCRIPTOR:
        descriptors = {bodies.number(entity): entity for entity in bodies.model.of_kind(EntityKind.DESCRIPTOR)}
        types = sorted(descriptors)
        discriminator = _discriminator(descriptors)
    else:
        types = [bodies.number(table.owner)]
        discriminator = "NULL"
    values = [(column.name, _fixed_value(column, discriminator)) for column in table.columns]
    return _view(table, values, ["public.document d"], [of_types(types)], types)


def _discriminator(descriptors: dict[int, Entity]) -> str:
    names = (
        f"WHEN {number} THEN {casts.literal(f'{schema_name(entity.namespace)}.{resource_name(entity)}')}"
        for number, entity in sorted(descriptors.items())
    )
    return f"(CASE d.resource_type_id {' '.join(names)} END)::varchar(128)"


def _fixed_value(column: SqlColumn, discriminator: str) -> str:
    match column.source:
        case Envelope.DISCRIMINATOR:
            return discriminator
        case Envelope.URI:
            return "((d.body->>'namespace') || '#' || (d.body->>'codeValue'))::varchar(306)"
        case Envelope():
            return ENVELOPE[column.source]
        case FixedMember(name=""):
            return ROW_NUMBER
        case FixedMember(name=name):
            return _member(name, column.type)
        case _:
            return f"NULL::{column.type}"


def _member(name: str, type_: str) -> str:
    if type_ == "BOOLEAN":
        return f"{casts.json('d.body', (name,))}::boolean"
    if type_ == "SMALLINT":
        return casts.small_integer(casts.json("d.body", (name,)))
    return f"{casts.text('d.body', (name,))}::{type_}"


def _enumeration(table: SqlTable) -> View:
    """The items of the model, numbered from 1."""
    rows = ", ".join(
        f"({number}, {casts.literal(item.value)}, {casts.literal(item.documentation)})"
        for number, item in enumerate(table.owner.items, start=1)
    )
    values = [(column.name, _item_value(column)) for column in table.columns]
    return _view(table, values, [f"(VALUES {rows}) AS v (number, value, documentation)"], [])


def _item_value(column: SqlColumn) -> str:
    match column.source:
        case FixedMember(name=""):
            return "v.number"
        case FixedMember(name="description"):
            return f"v.documentation::{column.type}"
        case FixedMember():
            return f"v.value::{column.type}"
        case _:
            return f"NULL::{column.type}"


def _view(
    table: SqlTable,
    values: list[tuple[str, str]],
    joined: list[str],
    conditions: list[str],
    resource_types: Sequence[int] = (),
) -> View:
    """A view with at least two FROM items."""
    items = joined if len(joined) > 1 else [*joined, READ_ONLY]
    lines = [f"FROM {items[0]}", *items[1:], *([f"WHERE {' AND '.join(conditions)}"] if conditions else [])]
    return View(
        table.schema, table.name, tuple(values), "\n  ".join(lines), table, resource_types=tuple(resource_types)
    )
