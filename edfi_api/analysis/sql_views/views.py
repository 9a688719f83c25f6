"""Tables → the SELECT of a view for each: the rows and columns of the table, read from the bodies of documents.

Every view is read-only by construction: a view of one table alone is updatable in PostgreSQL, and deleting through it
would bypass the API. So each has a second FROM item; where nothing else is joined, an empty one that the planner
removes. WITH, OFFSET 0 and DISTINCT would do the same, but keep conditions from being pushed down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from edfi_api.analysis.sql_views import casts
from edfi_api.analysis.sql_views.bodies import ResourceBodies
from edfi_api.analysis.sql_views.columns import ENVELOPE, ROW_NUMBER, Columns
from edfi_api.analysis.sql_views.foreign_keys import ForeignKey, ForeignKeys
from edfi_api.analysis.sql_views.names import schema_name
from edfi_api.analysis.sql_views.rows import ViewRows, of_types
from edfi_api.analysis.sql_views.shape import Envelope, FixedMember, RowKind, SqlColumn, SqlTable
from edfi_api.model.metaed.model import Entity, EntityKind
from edfi_api.model.surface.naming import resource_name

READ_ONLY = "CROSS JOIN (SELECT) AS read_only"


@dataclass(frozen=True, slots=True)
class View:
    """A view: its columns with their expressions, and its source, FROM and WHERE.

    `table` is the table of the ODS that it stands for, None for other views. A `keyword` can stand before the columns.
    If its rows are documents `d`, or parts of them, `resource_types` are the numbers of theirs.
    """

    schema: str
    name: str
    columns: tuple[tuple[str, str], ...]
    source: str
    table: SqlTable | None = None
    keyword: str = ""
    resource_types: tuple[int, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def select(self) -> str:
        values = ",\n       ".join(f"{expression} AS {name}" for name, expression in self.columns)
        return f"SELECT {self.keyword}{values}\n  {self.source}"


def views(tables: Sequence[SqlTable], bodies: ResourceBodies) -> Iterator[View]:
    """A view for each table. Raises LookupError for a column whose property path no body has."""
    foreign_keys = ForeignKeys(tables, bodies)
    for table in tables:
        yield replace(_of_table(table, bodies), foreign_keys=foreign_keys.of(table))


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
