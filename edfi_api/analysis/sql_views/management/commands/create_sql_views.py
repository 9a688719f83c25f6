"""`manage.py create_sql_views --reader analyst`"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from edfi_api.analysis.sql_views.command_errors import as_command_errors
from edfi_api.analysis.sql_views.current import current_views
from edfi_api.analysis.sql_views.installation import Changes, Installation
from edfi_api.management.arguments import add_database, name

# A column of 32 bits holds the numbers of rows; beyond, the views fail.
_MOST_ROWS = 2**31 - 1
_SHOWN = 20


class Command(BaseCommand):
    help = (
        "Creates schemas of read-only SQL views named and shaped like the tables of the Ed-Fi ODS 7.3 for PostgreSQL: "
        "one schema for each project, auth and util. In one transaction; what is up to date stays as it is. Views of "
        "others that are built on these survive, unless columns change or disappear."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--schema", type=name, action="append", metavar="SCHEMA", help="only this schema; repeatable (default: all)"
        )
        parser.add_argument(
            "--reader", type=name, action="append", metavar="ROLE", help="an existing role that may read; repeatable"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")
        parser.add_argument("--sql", action="store_true", help="print the statements, and change nothing")
        parser.add_argument(
            "--drop-dependents", action="store_true", help="drop what others have built on views that have to go"
        )
        add_database(parser, "the database to create them in; always a primary")

    def handle(
        self,
        *args: Any,
        database: str,
        schema: list[str] | None,
        reader: list[str] | None,
        dry_run: bool,
        sql: bool,
        drop_dependents: bool,
        **options: Any,
    ) -> None:
        with as_command_errors():
            _refuse_unknown(reader or [], _roles(database), "role")
            current = current_views(database)
            _refuse_unknown(schema or [], {each.schema for each in current.definitions}, "schema")
            schemas = None if schema is None else frozenset(schema)
            installation = Installation(database, schemas, tuple(reader or ()), drops_dependents=drop_dependents)
            changes = installation.install(current.definitions, current.fingerprint, is_dry_run=dry_run or sql)
        if sql:
            self.stdout.write("".join(f"{statement};\n" for statement in changes.statements), ending="")
        else:
            self._report(changes, is_dry_run=dry_run)
        self._warn_of_large_numbers(database)

    def _report(self, changes: Changes, *, is_dry_run: bool) -> None:
        would = "would be " if is_dry_run else ""
        for done, names in (
            ("created", changes.created),
            ("replaced", changes.replaced),
            ("dropped", changes.dropped),
        ):
            if names:
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                self.stdout.write(f"{len(names)} {would}{done}: {', '.join(names[:_SHOWN])}{more}")
        self.stdout.write(f"{changes.unchanged} up to date")

    def _warn_of_large_numbers(self, database: str) -> None:
        with connections[database].cursor() as cursor:
            cursor.execute("SELECT coalesce(max(id), 0) FROM document")
            (highest,) = cursor.fetchone()
        if highest > _MOST_ROWS // 2:
            self.stderr.write(
                f"The newest document is row {highest:,}; beyond {_MOST_ROWS:,} the views fail, because the tables of"
                " the ODS number descriptors and people with 32 bits. Export the documents and load them into a new"
                " database before."
            )


def _roles(database: str) -> set[str]:
    with connections[database].cursor() as cursor:
        cursor.execute("SELECT rolname FROM pg_roles")
        return {role for (role,) in cursor.fetchall()}


def _refuse_unknown(named: list[str], known: set[str], kind: str) -> None:
    unknown = sorted(set(named) - known)
    if unknown:
        raise CommandError(f"there is no {kind} {', '.join(unknown)}")
