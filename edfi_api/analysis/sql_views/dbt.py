"""Views → `sources.yml` of dbt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby

from edfi_api.analysis.sql_views.views import View


def sources(views: Iterable[View]) -> str:
    """The text of the file: a source for each schema, with tables, columns and their documentation, and not_null for
    the columns of keys. Texts are quoted as JSON, which is YAML too."""
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
    yield "        columns:"
    facts = {column.name: column for column in table.columns} if table is not None else {}
    for name, _ in view.columns:
        yield f"          - name: {name}"
        column = facts.get(name)
        if column is not None and column.documentation:
            yield f"            description: {json.dumps(column.documentation)}"
        if column is not None and column.is_key:
            yield "            data_tests: [not_null]"
