"""The SQL of a page: one statement for each plan, composed of the selection's predicates.

Rows are named `d`. The parameters are those of the predicates and `type`, `first` and `last` (row ids), `first_version`
and `last_version`, `size` and `offset`; `wanted` is the sum of the last two, `looked_at` the number of rows read from
an access path, `near` the number of rows scanned before it is used.
"""

from dataclasses import replace
from functools import cache

from edfi_api.core.queries.plan import Limits, Plan, Way, for_many_rows, for_one_row, ranges, remaining
from edfi_api.core.queries.selection import LAST_ROW, Order, OrderBy, Selection
from edfi_api.core.storage.driver.sql import Sql, all_of
from edfi_api.core.storage.row_policy import AccessPath, Predicate
from edfi_api.core.storage.stored import STORED_COLUMNS

# The size of a body `d.body` in memory; PostgreSQL compresses large ones, to a hundredth if they repeat themselves.
BODY_BYTES = """CASE WHEN pg_column_compression(d.body) IS NULL THEN pg_column_size(d.body)
                    ELSE octet_length(d.body::text) END"""


def _looked_up(page: str) -> Sql:
    """The columns of `StoredDocument` of the rows of a page, `id` and `place`.

    OFFSET 0 forces a lookup of each document: the generic plan of a prepared statement does not know how few they are.
    """
    looked_up = "CROSS JOIN LATERAL (SELECT * FROM document WHERE document.id = page.id OFFSET 0) d"
    return _documents("page.place", f"FROM ({page}) page {looked_up}")


def _documents(place: str, page: str) -> Sql:
    """The columns of `StoredDocument` of the documents of a page, `FROM …`, in their places. Bodies are returned up to
    `bytes_at_once`; the others are read by `_REST`."""
    columns = STORED_COLUMNS.format(body="CASE WHEN d.bytes_before < %(bytes_at_once)s THEN d.body END")
    return Sql(f"""
SELECT {columns}
  FROM (
    SELECT d.*, sum(size.bytes) OVER (ORDER BY d.place) - size.bytes AS bytes_before
      FROM (SELECT d.*, {place} AS place {page}) d CROSS JOIN LATERAL (
             SELECT {BODY_BYTES} AS bytes
           ) size
  ) d
 ORDER BY d.place
""")


# Pages are cut on row ids alone: skipped rows are read from the index only, and sorted tuples are small.
_PAGE = _looked_up(
    "SELECT id, place FROM ({found}) d ORDER BY d.resource_type_id, d.place LIMIT %(size)s OFFSET %(offset)s"
)

# If nothing is skipped and all rows match, the documents are read as the index has them: to look each up once more
# would take a fifth of a large page.
_FIRST_IN_ORDER = _documents("d.{column}", "{scan} ORDER BY d.resource_type_id, d.{column} LIMIT %(size)s")

# The rest of a page is read later, so its conditions are checked again.
_REST = _looked_up("""
SELECT d.id, rest.place FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY AS rest (id, place) JOIN document d USING (id)
 WHERE {each_row}
""")

# The type is in a range instead of an equality, so that PostgreSQL does not drop it from ORDER BY as redundant:
# otherwise a generic plan may scan the primary key for the documents of a rare resource, past those of all others.
_ROWS = Sql("""
FROM document d
WHERE d.resource_type_id BETWEEN %(type)s::smallint AND %(type)s::smallint AND d.id BETWEEN %(first)s AND %(last)s
""")
# Compared as a pair instead of by an equality, so that PostgreSQL does not drop the column from ORDER BY as redundant:
# otherwise a generic plan may scan the index of pages for the rows of a value, past those of all others. The pair is
# where the index of the column is entered, which has no rows without a value.
_ROWS_OF_VALUE = Sql("""
FROM document d
WHERE d.resource_type_id = %(type)s::smallint AND d.{column} IS NOT NULL
  AND (d.{column}, d.id) >= ({value}, %(first)s) AND (d.{column}, d.id) <= ({value}, %(last)s)
""")
_VERSIONS = Sql("""
FROM document d
WHERE d.resource_type_id BETWEEN %(type)s::smallint AND %(type)s::smallint
  AND d.change_version BETWEEN %(first_version)s AND %(last_version)s
""")

# A parallel restricted function: the fallback to an index is planned for many rows, and PostgreSQL would start parallel
# workers for each page, whether the fallback is necessary or not.
_WITHOUT_WORKERS = "pg_backend_pid() IS NOT NULL"
# `id + 0` prevents another scan along the primary key, and a BitmapAnd with it: a generic plan does not know whether
# the range is narrow.
_BY_INDEX = Sql("FROM document d WHERE {index} AND d.id + 0 BETWEEN %(first)s AND %(last)s AND " + _WITHOUT_WORKERS)
# Pages in version order have no range of rows. With one, PostgreSQL expects so few rows that it compares each with each
# person that a policy allows.
_VERSIONS_BY_INDEX = Sql("FROM document d WHERE {index} AND " + _WITHOUT_WORKERS)

_IN_ORDER = Sql("SELECT d.resource_type_id, d.{column} AS place, d.id {scan}")
_IN_ORDER_OF_VALUE = _IN_ORDER + " ORDER BY {order} LIMIT %(wanted)s"
_INDEX = Sql("SELECT d.resource_type_id, d.{column} AS place, d.id {by_index}")

# The first `wanted` matches: from the nearest rows if these have enough, from further rows if the estimate says so,
# otherwise from the index.
_NEAR_ROWS = Sql("""
WITH near AS MATERIALIZED (
    SELECT d.resource_type_id, d.{column} AS place, d.id
      FROM (SELECT d.* {scan} ORDER BY {order} LIMIT {near_rows}) d
     WHERE {each_row} ORDER BY d.resource_type_id, d.{column} LIMIT %(wanted)s
), further AS MATERIALIZED (
    SELECT d.resource_type_id, d.{column} AS place, d.id
      FROM (
        SELECT d.* {scan} ORDER BY {order} OFFSET {near_rows} LIMIT ({further_rows})
      ) d
     WHERE {each_row} ORDER BY d.resource_type_id, d.{column} LIMIT %(wanted)s
), scanned AS MATERIALIZED (
    SELECT * FROM near UNION ALL SELECT * FROM further
)
SELECT * FROM scanned WHERE (SELECT count(*) FROM scanned) >= %(wanted)s
UNION ALL
(SELECT d.resource_type_id, d.{column}, d.id {by_index} AND (SELECT count(*) FROM scanned) < %(wanted)s
  ORDER BY d.{column} + 0 LIMIT %(wanted)s)
""")

# In the client's order. Row numbers are places, since the order of the page is one of columns of numbers. The limit is
# a literal: with a parameter, a generic plan expects that a tenth of the rows is wanted, and sorts all.
_CHOSEN_ORDER = Sql("""
SELECT d.resource_type_id, row_number() OVER () AS place, d.id
  FROM (
    SELECT d.resource_type_id, d.id FROM document d WHERE {conditions} ORDER BY {terms} LIMIT {most}
  ) d
""")

# The nearest rows, if the client sees many documents.
_NEAR_IF_MANY = Sql("""
near AS MATERIALIZED (
    SELECT d.resource_type_id, d.id AS place, d.id
      FROM (
        SELECT d.* {scan} ORDER BY d.resource_type_id, d.id
         LIMIT CASE WHEN {are_many} THEN %(near)s::bigint ELSE 0 END
      ) d
     WHERE {each_row} ORDER BY d.resource_type_id, d.id LIMIT %(wanted)s
)
""")
# The nearest rows also if a sample of them says that they fill the page, because the client sees most documents and the
# other predicates match many. The policy is evaluated only for the rows that match these.
_NEAR_IF_FREQUENT = Sql("""
sample AS MATERIALIZED (
    SELECT d.resource_type_id, d.id AS place, d.id
      FROM (SELECT d.* {scan} ORDER BY d.resource_type_id, d.id LIMIT %(sampled)s) d
     WHERE {each_row} ORDER BY d.resource_type_id, d.id LIMIT %(wanted)s
), near AS MATERIALIZED (
    SELECT * FROM sample
    UNION ALL
    (SELECT d.resource_type_id, d.id AS place, d.id
       FROM (
         SELECT d.* {scan} ORDER BY d.resource_type_id, d.id OFFSET %(sampled)s LIMIT (
             SELECT CASE WHEN count(*) >= %(wanted)s::bigint THEN 0
                         WHEN {are_many} THEN %(near)s::bigint
                         WHEN count(*) * %(near)s::bigint >= %(wanted)s::numeric * %(sampled)s::bigint
                         THEN 2 * %(near)s::bigint
                         ELSE 0 END
               FROM sample
         )
       ) d
      WHERE {each_row} ORDER BY d.resource_type_id, d.id LIMIT %(wanted)s)
)
""")
_ACCESS_PATH = Sql("""
WITH {near}
SELECT * FROM near WHERE (SELECT count(*) FROM near) >= %(wanted)s
UNION ALL
(SELECT DISTINCT %(type)s::smallint, c.id, c.id FROM ({first_rows}) c
  WHERE (SELECT count(*) FROM near) < %(wanted)s ORDER BY c.id LIMIT %(wanted)s)
""")
# The first documents of the access path are the result if enough of them match, or if there are no more; otherwise each
# of the `others` is checked.
_CHECKED_ACCESS_PATH = Sql("""
WITH {near}, candidate AS MATERIALIZED (
    SELECT DISTINCT c.id FROM ({first_rows}) c
     WHERE (SELECT count(*) FROM near) < %(wanted)s AND {uses_path} ORDER BY c.id LIMIT %(looked_at)s
), own AS MATERIALIZED (
    SELECT c.id FROM (SELECT id FROM candidate ORDER BY id) c CROSS JOIN {remaining} ORDER BY c.id LIMIT %(wanted)s
), found AS MATERIALIZED (
    SELECT (SELECT count(*) FROM near) >= %(wanted)s AS is_near,
           (SELECT count(*) FROM own) >= %(wanted)s
             OR (SELECT count(*) FROM candidate) < %(looked_at)s AND {uses_path} AS is_own
)
(SELECT * FROM near WHERE (SELECT is_near FROM found) ORDER BY id LIMIT %(wanted)s)
UNION ALL
SELECT %(type)s::smallint, id, id FROM own WHERE (SELECT is_own AND NOT is_near FROM found)
UNION ALL
(SELECT %(type)s::smallint, c.id, c.id
   FROM (
     SELECT DISTINCT d.id FROM ({others}) d WHERE (SELECT NOT is_own AND NOT is_near FROM found) ORDER BY d.id
   ) c CROSS JOIN {checked}
  ORDER BY c.id LIMIT %(wanted)s)
""")
# In version order, after the nearest rows, all documents of the access path are sorted if they are few; otherwise all
# documents for which the conditions hold.
_ACCESS_PATH_BY_VERSION = Sql("""
WITH near AS MATERIALIZED (
    SELECT d.resource_type_id, d.change_version AS place, d.id
      FROM (SELECT d.* {scan} ORDER BY d.resource_type_id, d.change_version LIMIT %(near)s) d
     WHERE {each_row} ORDER BY d.resource_type_id, d.change_version LIMIT %(wanted)s
), found AS MATERIALIZED (
    SELECT (SELECT count(*) FROM near) >= %(wanted)s OR (
               SELECT count(*) FROM (SELECT FROM (SELECT d.* {scan} LIMIT %(near)s) d) d
           ) < %(near)s AS is_near, {are_many} AS are_many
)
SELECT * FROM near WHERE (SELECT is_near FROM found)
UNION ALL
(SELECT %(type)s::smallint, c.place, c.id
   FROM (
     SELECT d.change_version AS place, d.id
       FROM (SELECT DISTINCT c.id FROM ({all_rows}) c WHERE (SELECT NOT is_near AND NOT are_many FROM found)) c
            CROSS JOIN LATERAL (SELECT d.change_version, d.id FROM document d WHERE d.id = c.id OFFSET 0) d
      ORDER BY d.change_version
   ) c CROSS JOIN {remaining}
  ORDER BY c.place LIMIT %(wanted)s)
UNION ALL
(SELECT d.resource_type_id, d.change_version, d.id {by_index} AND (SELECT NOT is_near AND are_many FROM found)
  ORDER BY d.change_version + 0 LIMIT %(wanted)s)
""")
# The candidates `c` for which a condition holds, looked up one by one, in their order.
_CHECK = Sql("LATERAL (SELECT FROM document d WHERE d.id = c.id AND {condition} OFFSET 0) d")


def page_sql(selection: Selection, plan: Plan, size: int, offset: int, bytes_at_once: int) -> Sql:
    """The columns of `StoredDocument` of a page; bodies beyond `bytes_at_once` bytes are NULL."""
    order_by = selection.order_by
    if order_by is None and plan.way is Way.IN_ORDER and plan.scanned is None and offset == 0:
        page = _FIRST_IN_ORDER.fill(column=selection.order.value, scan=_scan(selection))
        return page.with_values(**ranges(selection), size=size, bytes_at_once=bytes_at_once)
    wanted = size + offset
    found = _in_chosen_order(selection, order_by, plan, wanted) if order_by else _found(selection, plan, wanted)
    return _PAGE.fill(found=found).with_values(
        **ranges(selection), size=size, offset=offset, wanted=wanted, bytes_at_once=bytes_at_once
    )


def rest_sql(selection: Selection, rows: list[int], bytes_at_once: int) -> Sql:
    """The documents of these rows that still match, as `page_sql`."""
    page = _REST.fill(each_row=all_of(for_one_row(selection)))
    return page.with_values(**ranges(selection), rows=rows, bytes_at_once=bytes_at_once)


def _found(selection: Selection, plan: Plan, wanted: int) -> Sql:
    """The query for the rows of the page: `resource_type_id`, `place` (the value of the order's column) and `id`."""
    column = selection.order.value
    match plan:
        case Plan(way=Way.IN_ORDER):
            found = _IN_ORDER_OF_VALUE if plan.scanned else _IN_ORDER
            return found.fill(column=column, **_scanning(selection, plan.scanned))
        case Plan(way=Way.INDEX | Way.INDEX_ALONE):
            return _INDEX.fill(column=column, by_index=_by_index(selection))
        case Plan(way=Way.ACCESS_PATH_BY_VERSION, path=AccessPath() as path):
            return _access_path_by_version(selection, path, plan.limits)
        case Plan(way=Way.FILTERED_ACCESS_PATH, path=AccessPath() as path):
            return _filtered_access_path(selection, path, plan.limits, wanted)
        case Plan(path=AccessPath() as path):
            several = max(plan.limits.near_rows_of_policy, min(2 * wanted, LAST_ROW))
            return _access_path(selection, path, several, wanted)
        case _:
            return _near_rows(selection, plan)


def _near_rows(selection: Selection, plan: Plan) -> Sql:
    near_rows = plan.limits.near_rows_of_value if plan.scanned else plan.limits.near_rows
    return _NEAR_ROWS.fill(
        column=selection.order.value,
        **_scanning(selection, plan.scanned),
        near_rows=str(near_rows),
        further_rows=_further_rows(near_rows),
        each_row=all_of(for_one_row(selection, plan.scanned)),
        by_index=_by_index(selection),
    )


@cache
def _further_rows(near_rows: int) -> Sql:
    """Return how many further rows to scan: twice the estimate from the matches among the near rows. It pays if the
    page is near, since the index returns all matches of the resource, and if most rows match."""
    return Sql(f"""
SELECT CASE WHEN count(*) = 0 OR count(*) >= %(wanted)s::bigint THEN 0
            WHEN count(*) >= {near_rows} / 4 OR count(*) >= %(wanted)s::bigint / 5
            THEN 2 * {near_rows} * least(%(wanted)s::bigint, 1000000000000) / count(*)
            ELSE 0 END
  FROM near
""")


def _access_path(selection: Selection, path: AccessPath, several: int, wanted: int) -> Sql:
    near = _near_if_many(selection, path)
    if path.remaining is None:
        return _ACCESS_PATH.fill(near=near, first_rows=path.first_rows).with_values(near=several, looked_at=wanted)
    check = _CHECK.fill(condition=path.remaining)
    parts = {"first_rows": path.first_rows, "remaining": check, "others": path.all_rows, "checked": check}
    return _CHECKED_ACCESS_PATH.fill(near=near, uses_path="true", **parts).with_values(near=several, looked_at=several)


def _filtered_access_path(selection: Selection, path: AccessPath, limits: Limits, wanted: int) -> Sql:
    """The policy is evaluated for each row that an index finds for the other predicates."""
    others = replace(selection, predicates=tuple(each for each in selection.predicates if each.access_path is None))
    return _CHECKED_ACCESS_PATH.fill(
        near=_near_if_frequent(selection, path),
        first_rows=path.first_rows,
        uses_path="NOT " + path.has_many_branches,
        remaining=_CHECK.fill(condition=all_of(remaining(selection, path))),
        others="SELECT d.id " + _by_index(others),
        checked=_CHECK.fill(condition=all_of(for_one_row(selection))),
    ).with_values(near=limits.near_rows, sampled=limits.sampled_rows, looked_at=max(limits.path_rows, wanted))


def _access_path_by_version(selection: Selection, path: AccessPath, limits: Limits) -> Sql:
    return _ACCESS_PATH_BY_VERSION.fill(
        scan=_scan(selection),
        each_row=all_of(for_one_row(selection)),
        are_many=path.has_many_branches,
        all_rows=path.all_rows,
        remaining=_CHECK.fill(condition=all_of(remaining(selection, path))),
        by_index=_by_index(selection),
    ).with_values(near=limits.near_rows)


def _near_if_many(selection: Selection, path: AccessPath) -> Sql:
    each_row = all_of(for_one_row(selection))
    return _NEAR_IF_MANY.fill(scan=_scan(selection), are_many=path.has_many_branches, each_row=each_row)


def _near_if_frequent(selection: Selection, path: AccessPath) -> Sql:
    each_row = all_of(for_one_row(selection))
    return _NEAR_IF_FREQUENT.fill(scan=_scan(selection), are_many=path.has_many_branches, each_row=each_row)


def _in_chosen_order(selection: Selection, order_by: OrderBy, plan: Plan, wanted: int) -> Sql:
    # The type is a literal, so that PostgreSQL sees that the partial index has these rows.
    of_type = Sql(f"d.resource_type_id = {selection.resource_type}")
    conditions = for_many_rows(selection) if plan.way is Way.SORTED else for_one_row(selection)
    return _CHOSEN_ORDER.fill(
        conditions=all_of([of_type, *conditions, order_by.is_after()]),
        terms=order_by.terms(),
        # Few different ones, so that statements are few.
        most=str(min(1 << wanted.bit_length(), LAST_ROW)),
    )


def _scan(selection: Selection) -> Sql:
    return _ROWS if selection.order is Order.ROW else _VERSIONS


def _scanning(selection: Selection, scanned: Predicate | None) -> dict[str, Sql | str]:
    """The rows of a scan, of one value if an index has them in row order, and the order of the scan."""
    if scanned is None or scanned.in_row_order is None:
        return {"scan": _scan(selection), "order": f"d.resource_type_id, d.{selection.order.value}"}
    column, value = scanned.in_row_order.column, scanned.in_row_order.value
    return {"scan": _ROWS_OF_VALUE.fill(column=column, value=value), "order": f"d.{column}, d.id"}


def _by_index(selection: Selection) -> Sql:
    found = _BY_INDEX if selection.order is Order.ROW else _VERSIONS_BY_INDEX
    return found.fill(index=all_of(for_many_rows(selection)))
