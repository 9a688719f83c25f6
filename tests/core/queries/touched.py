"""The rows and blocks that a request touches, by PostgreSQL's statistics of the transaction.

Unlike times these figures are the same on every machine. `rows` are rows of tables, read by any kind of scan, and index
entries; `blocks` are requested blocks of tables and indexes, cached or not; `full_scans` are sequential scans of
documents and references; `searches_of_bodies` scans of the GIN index over the bodies.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.db import connection

_COUNTED = """
SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)), 0),
       coalesce(sum(pg_stat_get_xact_blocks_fetched(oid)), 0),
       coalesce(sum(pg_stat_get_xact_numscans(oid)) FILTER (WHERE relname IN ('document', 'alias', 'reference')), 0),
       coalesce(sum(pg_stat_get_xact_numscans(oid)) FILTER (WHERE relname = 'document_scoped_body'), 0)
  FROM pg_class WHERE relkind IN ('r', 'i', 't') AND relnamespace::regnamespace::text IN ('public', 'pg_toast')
"""


@dataclass(frozen=True, slots=True)
class Touched:
    """The figures of one request."""

    rows: int
    blocks: int
    full_scans: int
    searches_of_bodies: int


def touched(request: Callable[[], object]) -> Touched:
    """The figures of a request served in this process, on this connection, inside a transaction."""
    before = _counted()
    request()
    return Touched(*(after - earlier for after, earlier in zip(_counted(), before, strict=True)))


def _counted() -> tuple[int, ...]:
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED)
        return tuple(int(number) for number in cursor.fetchone())
