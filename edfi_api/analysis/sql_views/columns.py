"""The SQL of the values of a table's columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from edfi_api.analysis.sql_views import casts
from edfi_api.analysis.sql_views.bodies import PEOPLE, ResourceBodies, ResourceBody
from edfi_api.analysis.sql_views.names import schema_name
from edfi_api.analysis.sql_views.people import Person, PersonJoins
from edfi_api.analysis.sql_views.rows import Steps, ViewRows
from edfi_api.analysis.sql_views.shape import Envelope, SqlColumn, SqlTable
from edfi_api.documents.securables import SecurableKind
from edfi_api.model.metaed.model import SUBCLASS_KINDS, Property, PropertyType
from edfi_api.model.surface.columns import Column
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
        """Whether the column of this name in `document` has the value at these paths."""
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
    uris_and_rows = "SELECT jsonb_object_agg(substr(x.natural_key, 4), x.id) FROM public.document x"
    return f"(({uris_and_rows} WHERE x.resource_type_id = {number})->{value})::integer"


def _item_number(items: list[str], value: str) -> str:
    return f"array_position(ARRAY[{', '.join(map(casts.literal, items))}]::text[], {value})"
