"""`manage.py export_dbt_sources --output models/sources.yml`"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import add_database, path
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.features.sql_views.current import ERRORS_OF_SQL_VIEWS, current_views
from edfi_api.features.sql_views.tables import ForeignKey
from edfi_api.features.sql_views.views import View


class Command(DataStoreCommand):
    error_texts = ERRORS_OF_SQL_VIEWS
    takes_several = False
    help = "Writes the SQL views as sources of dbt, with their documentation; --output sources.yml, or printed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--output", type=path, metavar="FILE", help="default: standard output")
        add_database(parser, "the database that has the views")

    def handle(self, *args: Any, output: Path | None, database: str, **options: Any) -> None:
        text = sources(current_views(database).views)
        if output is None:
            self.stdout.write(text, ending="")
            return
        try:
            output.write_text(text)
        except OSError as error:
            raise CommandError(f"{output}: {error.strerror}") from error


def sources(views: Iterable[View]) -> str:
    """The text of the file: a source for each schema, with tables, columns and their documentation; not_null for the
    columns of keys, relationships for foreign keys. Texts are quoted as JSON, which is YAML too."""
    return "\n".join(["version: 2", "", "sources:", *_lines(views)]) + "\n"


def _lines(views: Iterable[View]) -> Iterator[str]:
    in_order = sorted(views, key=lambda view: (view.schema, view.name))
    for schema, of_schema in groupby(in_order, key=lambda view: view.schema):
        yield f"  - name: {schema}"
        yield "    tables:"
        for view in of_schema:
            yield f"      - name: {view.name}"
            yield from _table(view)


def _table(view: View) -> Iterator[str]:
    table = view.table
    if table is not None and table.documentation:
        yield f"        description: {json.dumps(table.documentation)}"
    if of_several := [key for key in view.foreign_keys if len(key.columns) > 1]:
        yield "        data_tests:"
        yield from (f"          - {json.dumps(_relationship(key, _as_text(key.columns)))}" for key in of_several)
    yield "        columns:"
    facts = {column.name: column for column in table.columns} if table is not None else {}
    for name, _ in view.columns:
        yield f"          - name: {name}"
        column = facts.get(name)
        if column is None:
            continue
        if column.documentation:
            yield f"            description: {json.dumps(column.documentation)}"
        tests = [
            *(["not_null"] if column.is_key else []),
            *(_relationship(key) for key in view.foreign_keys if key.columns == (name,)),
        ]
        if tests:
            yield f"            data_tests: {json.dumps(tests)}"


def _relationship(key: ForeignKey, column: str | None = None) -> dict[str, dict[str, str]]:
    """dbt's test of a foreign key: that of a column, unless it names an expression over several."""
    test = {"to": f"source('{key.target.schema}', '{key.target.name}')", "field": _as_text(key.key)}
    return {"relationships": {"column_name": column, **test} if column else test}


def _as_text(columns: Iterable[str]) -> str:
    """One value for several columns, NULL if one of them is; as dbt's own tests compare one expression."""
    listed = list(columns)
    return listed[0] if len(listed) == 1 else " || '|' || ".join(f"{name}::text" for name in listed)
