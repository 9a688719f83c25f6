"""`manage.py create_sql_views --reader analyst`"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import connections

from edfi_api.common.commands import add_database, name
from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.served import current_surface
from edfi_api.features.sql_views import copies, indexes
from edfi_api.features.sql_views.changes import Changes
from edfi_api.features.sql_views.copies import Copying
from edfi_api.features.sql_views.current import ERRORS_OF_SQL_VIEWS, CurrentViews, current_views
from edfi_api.features.sql_views.indexes import ColumnIndex
from edfi_api.features.sql_views.installation import Installation, NewReader
from edfi_api.features.sql_views.refreshing import refresh
from edfi_api.features.sql_views.row_filter import RowFilter

# A column of 32 bits holds the numbers of rows; beyond, the views fail.
_MOST_ROWS = 2**31 - 1
_SHOWN = 20


class Command(DataStoreCommand):
    error_texts = ERRORS_OF_SQL_VIEWS
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
        parser.add_argument(
            "--create-reader",
            type=name,
            metavar="ROLE",
            help="make a role that may read, and print its address with a password, once",
        )
        copying = parser.add_mutually_exclusive_group()
        copying.add_argument(
            "--copy",
            type=name,
            action="append",
            metavar="PATTERN",
            help="views to read from tables, such as edfi.student*, which refresh_sql_views updates; repeatable",
        )
        copying.add_argument("--no-copy", action="store_true", help="let all views read from documents again")
        filtering = parser.add_mutually_exclusive_group()
        filtering.add_argument(
            "--row-filter",
            action="store_true",
            default=None,
            help="let each reader see the rows of its organizations alone; the admin has a page of readers",
        )
        filtering.add_argument(
            "--no-row-filter", action="store_false", dest="row_filter", help="let readers see all rows again"
        )
        for option, meaning in (("--index", "build an index of this column"), ("--drop-index", "drop it")):
            parser.add_argument(
                option,
                type=name,
                action="append",
                default=[],
                metavar="SCHEMA.VIEW.COLUMN",
                help=f"{meaning}; repeatable",
            )
        parser.add_argument("--dry-run", action="store_true", help="print what would change, and change nothing")
        parser.add_argument("--sql", action="store_true", help="print the statements, and change nothing")
        parser.add_argument(
            "--drop-dependents", action="store_true", help="drop what others have built on views that have to go"
        )
        add_database(parser, "the database to create them in; always a primary")

    def handle(
        self,
        *args: Any,
        database: str,
        index: list[str],
        drop_index: list[str],
        create_reader: str | None,
        dry_run: bool,
        sql: bool,
        **options: Any,
    ) -> None:
        is_dry_run = dry_run or sql
        new_reader = None if create_reader is None else NewReader(create_reader)
        current = current_views(database)
        wanted = indexes.wanted(database, current.views, index, drop_index)
        changes = _installation(current, database, new_reader, **options).install(
            current.definitions, current.fingerprint, is_dry_run=is_dry_run
        )
        if sql:
            self.stdout.write("".join(f"{statement};\n" for statement in changes.statements), ending="")
        else:
            self._show(changes, is_dry_run=dry_run)
        if new_reader is not None and not is_dry_run:
            # At once: what follows may be refused, and nothing can show the password again.
            self.stdout.write(
                f"The address of the reader, with its password, is shown this once:\n{new_reader.address(database)}"
            )
        self._synchronize_indexes(wanted, database, is_dry_run=is_dry_run)
        if not is_dry_run and any(copy.change_version is None for copy in copies.recorded(database)):
            self.stdout.write(str(refresh(database)))
        self._warn_of_large_numbers(database)

    def _synchronize_indexes(self, wanted: list[ColumnIndex], database: str, *, is_dry_run: bool) -> None:
        """Build and drop indexes, each statement in a transaction of its own."""
        for statement in indexes.of_people(database, are_viewed=True):
            self.stdout.write(f"{statement};")
            if not is_dry_run:
                indexes.execute(database, statement)
        statements = list(indexes.statements(database, wanted))
        for statement in statements:
            self.stdout.write(f"{statement};")
            if not is_dry_run:
                indexes.execute(database, statement)
        if statements and not is_dry_run:
            indexes.execute(database, "ANALYZE document")  # The planner estimates by the values of the expression.
            self.stdout.write("Each write of an indexed resource now maintains these indexes, too.")

    def _show(self, changes: Changes, *, is_dry_run: bool) -> None:
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
                f"The newest document is row {highest:,}; beyond {_MOST_ROWS:,} views of descriptors fail and those of"
                " people lack rows, because the tables of the ODS number both with 32 bits. Export the documents and"
                " load them into a new database before."
            )


def _installation(
    current: CurrentViews,
    database: str,
    new_reader: NewReader | None,
    *,
    schema: list[str] | None,
    reader: list[str] | None,
    copy: list[str] | None,
    no_copy: bool,
    drop_dependents: bool,
    row_filter: bool | None,
    **_: Any,
) -> Installation:
    """Return what the options ask for. Raises CommandError for what they name and is not there."""
    roles = _roles(database)
    missing = sorted(set(reader or ()) - roles)
    if missing:
        raise CommandError(f"there is no role {', '.join(missing)}; --create-reader {missing[0]} makes one")
    unknown = sorted(set(schema or ()) - {each.schema for each in current.definitions})
    if unknown:
        raise CommandError(f"there is no schema {', '.join(unknown)}")
    copying = Copying(tuple(copy or ()), none=no_copy)
    useless = copying.useless_patterns(current.definitions)
    if useless:
        raise CommandError(f"no view that can be copied is called {', '.join(useless)}")
    schemas = None if schema is None else frozenset(schema)
    rows = RowFilter(current_surface(), row_filter)
    rules = roles & {api_settings.RULE_LOGIN.get("user")}  # Rules may be `over = "views"`.
    readers = {*(reader or ()), *rules, *([new_reader.name] if new_reader else [])}
    return Installation(database, schemas, tuple(readers), drop_dependents, copying, rows, new_reader)


def _roles(database: str) -> set[str]:
    with connections[database].cursor() as cursor:
        cursor.execute("SELECT rolname FROM pg_roles")
        return {role for (role,) in cursor.fetchall()}
