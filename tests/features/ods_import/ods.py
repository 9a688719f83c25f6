"""Databases of an ODS for tests: made from the tables of one, and filled from our own views, or by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from django.db import connections
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from edfi_api.features.sql_views.shape import SqlTable
from edfi_api.features.sql_views.views import View
from tests.support import superuser
from tests.support.databases import DOCUMENTS

FOLDER = Path(__file__).parent
ODS = FOLDER / "ods-5.2.sql"


@dataclass(frozen=True)
class Content:
    """The rows of each table as `COPY` writes them, and the highest change version."""

    rows: dict[str, bytes]
    version: int


@dataclass(frozen=True)
class Ods:
    """A database beside that of the tests. `address` has the rights of `reader`, who may only SELECT."""

    name: str
    owner: str
    address: str

    @contextmanager
    def connect(self) -> Iterator[psycopg.Connection[Any]]:
        with psycopg.connect(self.owner) as connection:
            yield connection

    def run(self, statement: str, values: Any = None) -> list[tuple[Any, ...]]:
        with self.connect() as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def empty(self) -> None:
        """Remove all rows. Tables without any are left alone, or hundreds of new files would be made."""
        if tables := self._tables_with_rows():
            self.run(f"TRUNCATE {', '.join(tables)}")

    def _tables_with_rows(self) -> list[str]:
        tables = self.run(
            "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'"
            "   AND pg_relation_size(c.oid) > 0"
        )
        return [table for (table,) in tables]

    def fill(self, views: Iterable[View]) -> None:
        """Copy the rows of our views; tables that the ODS does not have are left out."""
        with self.connect() as target, connections[DOCUMENTS].cursor() as cursor:
            known = {
                f"{schema}.{name}" for schema, name in target.execute("SELECT schemaname, tablename FROM pg_tables")
            }
            for view in views:
                if view.table is None or str(view) not in known:
                    continue
                columns = sql.SQL(", ").join(sql.Identifier(name) for name, _ in view.columns)
                into = sql.SQL("COPY {}.{} ({}) FROM STDIN").format(
                    sql.Identifier(view.schema), sql.Identifier(view.name), columns
                )
                source = cursor.connection.cursor()
                with source.copy(f"COPY ({view.select}) TO STDOUT") as out, target.cursor().copy(into) as copy:
                    for data in out:
                        copy.write(data)
            target.execute("SELECT setval('changes.changeversionsequence', greatest(%s, 1))", [self._newest(target)])

    def content(self) -> Content:
        """All rows, to be put back by `put`: reading hundreds of views takes longer than most imports."""
        [(version,)] = self.run("SELECT last_value FROM changes.changeversionsequence")
        with self.connect() as connection:
            rows = {}
            for table in self._tables_with_rows():
                with connection.cursor().copy(f"COPY {table} TO STDOUT") as copy:
                    rows[table] = b"".join(copy)
        return Content(rows, version)

    def put(self, content: Content) -> None:
        """The rows into empty tables."""
        with self.connect() as connection:
            for table, rows in content.rows.items():
                with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                    copy.write(rows)
            connection.execute("SELECT setval('changes.changeversionsequence', %s)", [content.version])

    def _newest(self, connection: psycopg.Connection[Any]) -> int:
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.columns WHERE column_name = 'changeversion'"
        ).fetchall()
        newest = [
            connection.execute(
                sql.SQL("SELECT coalesce(max(changeversion), 0) FROM {}").format(sql.Identifier(*table))
            ).fetchone()[0]
            for table in tables
        ]
        return max(newest)


@contextmanager
def database(name: str, *files: Path, script: str = "", url: str = "") -> Iterator[Ods]:
    """A new database with the tables of these files and this script, in which a role of its own may read. `url` is that
    of another embedded server than that of the tests."""
    given = conninfo_to_dict(superuser.url_of(url)) if url else superuser.parameters()
    parameters = {key: given[key] for key in ("host", "port", "user", "password") if given.get(key)}
    reader = f"{name}_reader"
    with psycopg.connect(make_conninfo(**parameters, dbname="postgres"), autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        server.execute(f"DROP ROLE IF EXISTS {reader}")
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        server.execute(f"CREATE ROLE {reader} LOGIN PASSWORD 'to read'")
    owner = make_conninfo(**parameters, dbname=name)
    ods = Ods(name, owner, make_conninfo(**{**parameters, "user": reader, "password": "to read"}, dbname=name))
    for statements in filter(None, [*(file.read_text() for file in files), script]):
        ods.run(statements)
    let_read(ods, reader)
    try:
        yield ods
    finally:
        with psycopg.connect(make_conninfo(**parameters, dbname="postgres"), autocommit=True) as server:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
            server.execute(f"DROP ROLE {reader}")


def tables_script(tables: Iterable[SqlTable]) -> str:
    """Statements that create tables, and the schema of change versions."""
    found = list(tables)
    schemas = sorted({table.schema for table in found})
    return "\n".join(
        [
            *(f'CREATE SCHEMA "{schema}";' for schema in (*schemas, "changes")),
            "CREATE SEQUENCE changes.changeversionsequence;",
            *map(_table_script, found),
        ]
    )


def _table_script(table: SqlTable) -> str:
    """Return the script of a table without constraints: random documents agree with the model, but not with
    each other.
    """
    columns = ", ".join(f"{column.name} {column.type}" for column in table.columns)
    name, key = f'"{table.schema}".{table.name}', ", ".join(table.primary_key)
    return f"CREATE TABLE {name} ({columns}); CREATE INDEX ON {name} ({key});"


def let_read(ods: Ods, reader: str) -> None:
    """SELECT on everything, and nothing else but what everybody may."""
    schemas = "nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'"
    for (schema,) in ods.run(f"SELECT nspname FROM pg_namespace WHERE {schemas}"):
        ods.run(f'GRANT USAGE ON SCHEMA "{schema}" TO {reader}')
        ods.run(f'GRANT SELECT ON ALL TABLES IN SCHEMA "{schema}" TO {reader}')
        ods.run(f'GRANT SELECT ON ALL SEQUENCES IN SCHEMA "{schema}" TO {reader}')
    # As on other servers; the embedded one takes it away.
    ods.run("GRANT EXECUTE ON FUNCTION pg_export_snapshot TO PUBLIC")
