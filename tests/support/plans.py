"""Plans of statements, as `EXPLAIN (ANALYZE, FORMAT JSON)` returns them, and what they depend on."""

from collections.abc import Iterator
from typing import Any

from tests.support import superuser

# Earlier tests leave statistics and files of other sizes, from which PostgreSQL estimates the number of rows.
_AS_IN_A_NEW_DATABASE = """
TRUNCATE document CASCADE;
UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relnamespace = 'public'::regnamespace;
DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
"""


def begin_with_new_tables() -> None:
    """Begin with tables without documents, in the transaction of the test: what it analyzes is forgotten at its end."""
    superuser.execute(_AS_IN_A_NEW_DATABASE)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The node itself, and all below it."""
    yield plan
    for each in plan.get("Plans", ()):
        yield from nodes(each)


def most_rows(plan: dict[str, Any]) -> float:
    """Return the most rows that any node returns, in all its repetitions."""
    return float(max(node["Actual Rows"] * node["Actual Loops"] for node in nodes(plan)))
