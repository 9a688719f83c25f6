"""Whether the views in a database have the columns of the model, and can be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db import DatabaseError, connections, transaction

from edfi_api.analysis.sql_views.names import qualified
from edfi_api.analysis.sql_views.views import View

_COLUMNS = """
SELECT n.nspname, c.relname, array_agg(a.attname::text ORDER BY a.attnum)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relkind = 'v'
 GROUP BY 1, 2
"""


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
