"""The database objects that make up the views: schemas, views with their comments, functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from edfi_api.features.sql_views.casts import literal
from edfi_api.features.sql_views.shape import RowKind, SqlTable, qualified
from edfi_api.features.sql_views.views import View
from edfi_api.model.metaed.core_names import DESCRIPTOR_MAPPING
from edfi_api.model.surface.resource import Surface

UTILITIES = "util"
# The version of the ODS whose tables the views are shaped like.
ODS_VERSION = "7.3"


class ObjectKind(StrEnum):
    """The kinds of objects, as DROP names them."""

    SCHEMA = "schema"
    VIEW = "view"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Definition:
    """An object: `create` replaces one of the same name where PostgreSQL allows it. A schema has no name of its own;
    `view` is what a view is made from."""

    kind: ObjectKind
    schema: str
    name: str
    create: str
    view: View | None = None

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.name else self.schema

    @property
    def resource_types(self) -> tuple[int, ...]:
        """Return the types of the documents that the rows of a view are; empty if they are something else."""
        return () if self.view is None else self.view.resource_types

    @property
    def digest(self) -> str:
        return sha256(self.create.encode()).hexdigest()


def definitions(views: Iterable[View], surface: Surface) -> list[Definition]:
    """The objects of all schemas, schemas first."""
    objects = [*map(view_definition, views), *_functions(surface)]
    return [*map(_schema, sorted({each.schema for each in objects})), *objects]


def view_definition(view: View) -> Definition:
    """A view with its comments: documentation of the model, and the keys, since a view has none."""
    name = qualified(view.schema, view.name)
    statements = [f"CREATE OR REPLACE VIEW {name} AS\n{view.select}", *_comments(view, name), *_trigger(view, name)]
    return Definition(ObjectKind.VIEW, view.schema, view.name, ";\n".join(statements), view)


def _trigger(view: View, name: str) -> Iterator[str]:
    """Descriptors and their mappings are what products insert into an ODS, where they are not there yet."""
    identity = () if view.texts else _identity_of_inserts(view.table)
    if identity:
        function = f"public.skip_row_that_is_there({', '.join(map(literal, identity))})"
        on = f"INSTEAD OF INSERT ON {name} FOR EACH ROW"
        yield f"CREATE OR REPLACE TRIGGER skip_row_that_is_there {on} EXECUTE FUNCTION {function}"


def _identity_of_inserts(table: SqlTable | None) -> tuple[str, ...]:
    """The columns that identify the rows of a table into which products insert."""
    if table is None:
        return ()
    if table.rows is RowKind.ANY_DESCRIPTOR:
        return ("namespace", "codevalue")
    is_mapping = table.rows is RowKind.DOCUMENT and table.entity is not None and table.entity.key == DESCRIPTOR_MAPPING
    return table.primary_key if is_mapping else ()


def _comments(view: View, name: str) -> Iterator[str]:
    if view.table is None:
        return
    foreign = "; ".join(map(str, view.foreign_keys))
    texts = [
        *([view.table.documentation] if view.table.documentation else []),
        *([f"Foreign keys: {foreign}."] if foreign else []),
        f"Primary key: {', '.join(view.table.primary_key)}",
    ]
    yield f"COMMENT ON VIEW {name} IS {literal(' '.join(texts))}"
    for column in view.table.columns:
        if column.documentation:
            yield f"COMMENT ON COLUMN {name}.{column.name} IS {literal(column.documentation)}"
    for text in sorted(view.texts):
        yield f"COMMENT ON COLUMN {name}.{text} IS {literal(f'Code value of {text}id.')}"


def _schema(name: str) -> Definition:
    return Definition(ObjectKind.SCHEMA, name, "", f"CREATE SCHEMA IF NOT EXISTS {qualified(name)}")


def _functions(surface: Surface) -> Iterator[Definition]:
    standard = ".".join(surface.core_project.version.split(".")[:2])
    versions = {"getedfistandardversion": standard, "getedfiodsversion": ODS_VERSION}
    for name, version in versions.items():
        body = f"RETURNS varchar(50) LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN {literal(version)}"
        create = f"CREATE OR REPLACE FUNCTION {qualified(UTILITIES, name)}() {body}"
        yield Definition(ObjectKind.FUNCTION, UTILITIES, name, create)
