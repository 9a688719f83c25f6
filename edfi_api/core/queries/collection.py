"""Reads collections: a page, a count, partitions, each in one statement."""

from collections.abc import Generator, Iterator
from typing import Any

from edfi_api.core.queries.page_sql import page_sql, rest_sql
from edfi_api.core.queries.plan import for_many_rows, ordered_plan, plan, ranges, require_index
from edfi_api.core.queries.selection import Selection
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql, all_of
from edfi_api.core.storage.row_policy import Predicate
from edfi_api.core.storage.stored import StoredDocument

# Limit for the bodies of one read. A page of 500 documents of usual size takes one read; for larger documents, this
# bounds memory instead of the size of the page.
BYTES_AT_ONCE = 2 * 2**20

_DOCUMENTS = Sql("FROM document d WHERE {index} AND d.id + 0 BETWEEN %(first)s AND %(last)s")
# Without predicates there is no index but that of pages, so nothing has to be prevented: `id + 0` would be computed for
# each document, a quarter of the time of a count.
_ALL_DOCUMENTS = Sql("FROM document d WHERE {index} AND d.id BETWEEN %(first)s AND %(last)s")
_NUMBER_OF_ROWS = Sql("SELECT count(DISTINCT id) FROM ({rows}) r")
_PARTITION = Sql("""
WITH matching AS (
    SELECT {row} AS id, row_number() OVER (ORDER BY {row}) - 1 AS place, count(*) OVER () AS total {rows}
)
SELECT id FROM matching
 WHERE mod(place, greatest(ceil(total / %(number)s::numeric)::bigint, %(smallest)s)) = 0
 ORDER BY id
""")


def page(selection: Selection, size: int, offset: int) -> Iterator[StoredDocument]:
    """`size` documents in the selection's order after `offset` others.

    Raises IndexRequired if only an index that does not exist could find it.

    One statement finds the page. If the documents are large, it returns the first ones; the others are read after these
    have been consumed, in their state at that time, without those that were deleted or no longer match.
    """
    require_index(selection)
    order_by = selection.order_by
    chosen = plan(selection) if order_by is None else ordered_plan(selection, order_by)
    statement = page_sql(selection, chosen, size, offset, BYTES_AT_ONCE)
    rest = yield from _documents(statement, selection, chosen.hides_values)
    while rest:
        rest = yield from _documents(rest_sql(selection, rest, BYTES_AT_ONCE), selection)


def count(selection: Selection) -> int:
    """The exact number of documents, from which clients plan their requests.

    Without a filter an index is counted, and the index of paths for a client that is authorized by people alone. With a
    filter each match is read; so only values with millions of matches can exceed the time limit of a request
    (meadowlark/docs/design/performance.md has figures). Raises IndexRequired.
    """
    require_index(selection)
    match selection.predicates:
        case [Predicate(rows=Sql() as rows)] if selection.is_of_all_versions:
            statement = _NUMBER_OF_ROWS.fill(rows=rows).with_values(**ranges(selection))
        case _:
            documents = _DOCUMENTS if selection.predicates or not selection.is_of_all_versions else _ALL_DOCUMENTS
            statement = _of_all("SELECT count(*) " + documents, selection)
    ((number,),) = _run(statement, selection)
    return int(number)


def partition(selection: Selection, number: int, smallest: int) -> list[int]:
    """The first row ids of the parts that `partition_sql` makes. Raises IndexRequired."""
    require_index(selection)
    statement = partition_sql("d.id", _of_all(_DOCUMENTS, selection), number, smallest)
    return [row for (row,) in _run(statement, selection)]


def partition_sql(row: str, rows: Sql, number: int, smallest: int) -> Sql:
    """The first ids, `row`, of at most `number` parts of about equal size of rows, `FROM … WHERE …`; only the last may
    have less than `smallest`."""
    return _PARTITION.fill(row=row, rows=rows).with_values(number=number, smallest=smallest)


def _of_all(statement: Sql, selection: Selection) -> Sql:
    return statement.fill(index=all_of(for_many_rows(selection))).with_values(**ranges(selection))


def _documents(
    statement: Sql, selection: Selection, hides_values: bool = False
) -> Generator[StoredDocument, None, list[int]]:
    """Yields the first documents of a page, up to BYTES_AT_ONCE; returns the rows of the others."""
    rest = []
    for row in _run(statement, selection, hides_values):
        number, _, text, *_ = row
        if text is None:
            rest.append(number)
        else:
            yield StoredDocument(*row)
    return rest


def _run(statement: Sql, selection: Selection, hides_values: bool = False) -> list[tuple[Any, ...]]:
    return run_with_retries(lambda: execute(statement, selection.using, hides_values=hides_values))
