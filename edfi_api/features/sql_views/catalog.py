"""The views in the catalog of a database, the objects of others that conflict with them, and whether the views have
the columns of the model and can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db import DatabaseError, connections, transaction

from edfi_api.features.sql_views.definitions import Definition, ObjectKind
from edfi_api.features.sql_views.shape import qualified
from edfi_api.features.sql_views.views import View

_INSTALLED = "SELECT schema, name, kind, digest FROM sql_view WHERE schema <> '' ORDER BY schema, name"
_PRESENT = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = ANY (%s) AND c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S')
 UNION ALL
SELECT n.nspname, p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = ANY (%s)
 UNION ALL
SELECT nspname, '' FROM pg_namespace WHERE nspname = ANY (%s)
"""
# Views and materialized views by their rewrite rules, SQL functions by their own dependencies; all levels.
_DEPENDENTS = """
WITH RECURSIVE given (oid) AS (
    SELECT unnest(%s::text[])::regclass::oid
), found (classid, objid) AS (
    SELECT 'pg_class'::regclass::oid, oid FROM given
     UNION
    SELECT CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_class'::regclass END, coalesce(r.ev_class, d.objid)
      FROM found f
      JOIN pg_depend d ON d.refclassid = f.classid AND d.refobjid = f.objid AND d.deptype = 'n'
      LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
)
SELECT pg_describe_object(f.classid, f.objid, 0), coalesce(pg_get_userbyid(coalesce(c.relowner, p.proowner)), '?')
  FROM found f
  LEFT JOIN pg_class c ON f.classid = 'pg_class'::regclass AND c.oid = f.objid
  LEFT JOIN pg_proc p ON f.classid = 'pg_proc'::regclass AND p.oid = f.objid
 WHERE f.classid IN ('pg_class'::regclass, 'pg_proc'::regclass) AND f.objid NOT IN (SELECT oid FROM given)
 ORDER BY 1
"""
# The role that owns the views with a row filter is no reader, nor are the roles of questions, from which columns may be
# withheld.
_READERS = """
SELECT DISTINCT r.rolname FROM pg_namespace n
 CROSS JOIN LATERAL aclexplode(n.nspacl) a JOIN pg_roles r ON r.oid = a.grantee
 WHERE n.nspname = %s AND a.privilege_type = 'USAGE' AND a.grantee <> n.nspowner
   AND r.rolname <> current_database() || '_sql' AND NOT starts_with(r.rolname, current_database() || '_questions_')
 ORDER BY 1
"""
_COLUMNS = """
SELECT n.nspname, c.relname, array_agg(a.attname::text ORDER BY a.attnum)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relkind = 'v'
 GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True, order=True)
class InstalledObject:
    """An object that the command has created."""

    schema: str
    name: str
    kind: ObjectKind
    digest: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.name else self.schema


@dataclass(frozen=True, slots=True)
class Dependent:
    """An object of others that is built on a view: its description, such as `view reports.enrollment`, and owner."""

    description: str
    owner: str

    def __str__(self) -> str:
        return f"{self.description} of {self.owner}"


def installed(using: str) -> list[InstalledObject]:
    """Return what the command has created, and that is still there."""
    with connections[using].cursor() as cursor:
        cursor.execute(_INSTALLED)
        rows = [
            InstalledObject(schema, name, ObjectKind(kind), digest) for schema, name, kind, digest in cursor.fetchall()
        ]
    there = present(using, sorted({each.schema for each in rows}))
    return [each for each in rows if (each.schema, each.name) in there]


def present(using: str, schemas: Sequence[str]) -> set[tuple[str, str]]:
    """The relations and functions in these schemas, by any creator; a schema itself has an empty name."""
    names = list(schemas)
    with connections[using].cursor() as cursor:
        cursor.execute(_PRESENT, [names, names, names])
        return set(cursor.fetchall())


def is_present(using: str, schema: str, name: str) -> bool:
    """Return whether a schema has a relation or function of this name."""
    return (schema, name) in present(using, [schema])


def foreign(using: str, wanted: Sequence[Definition]) -> list[str]:
    """The objects of others in schemas of which the command has created nothing, and those with the name of a view."""
    ours = {(each.schema, each.name) for each in installed(using)}
    own_schemas = {schema for schema, _ in ours}
    names = {(each.schema, each.name) for each in wanted if each.kind is not ObjectKind.SCHEMA}
    others = present(using, sorted({each.schema for each in wanted})) - ours
    return sorted(
        f"{schema}.{name}" for schema, name in others if name and (schema not in own_schemas or (schema, name) in names)
    )


def dependents(using: str, views: Sequence[str]) -> list[Dependent]:
    """Return what others have built on these views, at any depth."""
    with connections[using].cursor() as cursor:
        cursor.execute(_DEPENDENTS, [list(views)])
        return [Dependent(*row) for row in cursor.fetchall()]


def readers(using: str, schema: str) -> list[str]:
    """The roles that may use a schema."""
    with connections[using].cursor() as cursor:
        cursor.execute(_READERS, [schema])
        return [role for (role,) in cursor.fetchall()]


def view_problems(views: Iterable[View], using: str) -> Iterator[str]:
    """A line for each view that is not there, has other columns, or cannot be read."""
    with connections[using].cursor() as cursor:
        cursor.execute(_COLUMNS)
        there = {(schema, name): columns for schema, name, columns in cursor.fetchall()}
    for view in views:
        columns = there.get((view.schema, view.name))
        if columns is None:
            yield f"{view} is not there"
        elif columns != [name for name, _ in view.columns]:
            yield f"{view} has other columns than the model: {', '.join(columns)}"
        elif (refusal := _refusal(view, using)) is not None:
            yield f"{view} cannot be read: {refusal}"


def _refusal(view: View, using: str) -> str | None:
    """Counting whole rows has every column computed."""
    try:
        with transaction.atomic(using), connections[using].cursor() as cursor:
            cursor.execute(f"SELECT count(v) FROM {qualified(view.schema, view.name)} AS v")
    except DatabaseError as error:
        return str(error).partition("\n")[0]
    return None
