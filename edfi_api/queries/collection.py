"""Reads collections: a page, a count, partitions, each in one statement.

A `Selection` describes the documents; filters and authorization narrow it. In insertion order, a page can be found by
scanning the rows of the resource, which is fast if matches are frequent and slow if they are rare or at the far end, or
through the GIN index, for which the opposite holds. The planner's estimates are wrong where matches cluster, as those
of one school do. So a filtered page scans the nearest rows first and uses the index only if they do not fill it; it
uses the index at once for filters known to match few documents, such as the key of a person. Windows of change versions
are read in version order in the same way.

A policy usually limits a client to documents that lie together: those of one district among all districts. If the
policy has an access path to them (`Predicate.access_path`), that is used first, after the nearest rows only if the
client sees very much; if it does not yield the page, documents are found as without a policy, which then filters them
one by one.
"""

import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from edfi_api.model.surface.resource import Resource
from edfi_api.storage import resource_types
from edfi_api.storage.driver.execution import execute, with_retries
from edfi_api.storage.driver.sql import Sql, merged
from edfi_api.storage.row_policy import AccessPath, Predicate, RowPolicy
from edfi_api.storage.stored import STORED_COLUMNS, StoredDocument

LAST_ROW = LAST_VERSION = 2**63 - 1

# Scanning these costs a millisecond or two. Values that at least one row in eighty has fill a page from them; for rarer
# values the index returns few enough rows.
_NEAR_ROWS = 2_000

# Limit for the bodies of one read, in their stored size (large ones are compressed). A page of 500 documents of usual
# size takes one read; for larger documents, this bounds memory instead of the size of the page.
BYTES_AT_ONCE = 2 * 2**20

# How many further rows to scan: twice the estimate from the matches among the near rows. It pays if the page is near,
# since the index returns all matches of the resource, and if most rows match.
_FURTHER_ROWS = f"""
SELECT CASE WHEN count(*) = 0 OR count(*) >= %(wanted)s::bigint THEN 0
            WHEN count(*) >= {_NEAR_ROWS // 4} OR count(*) >= %(wanted)s::bigint / 5
            THEN {2 * _NEAR_ROWS} * least(%(wanted)s::bigint, 1000000000000) / count(*)
            ELSE 0 END
  FROM near
"""

# Pages are cut on row ids alone: skipped rows are read from the index only, and sorted tuples are small.
_PAGE = "SELECT id, place FROM ({found}) d ORDER BY d.resource_type_id, d.place LIMIT %(size)s OFFSET %(offset)s"

# The rest of a page is read later, so its conditions are checked again.
_REST = """
SELECT d.id, rest.place FROM unnest(%(rows)s::bigint[]) WITH ORDINALITY AS rest (id, place) JOIN document d USING (id)
 WHERE {each_row}
"""

# OFFSET 0 forces a lookup of each document of a page: the generic plan of a prepared statement does not know how few
# they are. Bodies are returned up to `BYTES_AT_ONCE` of stored size; the others are read by `_REST`.
_DOCUMENTS = f"""
SELECT {STORED_COLUMNS.format(body="CASE WHEN d.bytes_before < %(bytes_at_once)s THEN d.body END")}
  FROM (
    SELECT d.*, page.place,
           sum(pg_column_size(d.body)) OVER (ORDER BY page.place) - pg_column_size(d.body) AS bytes_before
      FROM ({{page}}) page CROSS JOIN LATERAL (SELECT * FROM document WHERE document.id = page.id OFFSET 0) d
  ) d
 ORDER BY d.place
"""

# A range instead of an equality, so that PostgreSQL does not drop the type from ORDER BY as redundant: otherwise a
# generic plan may scan the primary key for the documents of a rare resource, past those of all others.
_ROWS = """
FROM document WHERE resource_type_id BETWEEN %(type)s AND %(type)s AND id BETWEEN %(first)s AND %(last)s
"""

_VERSIONS = """
FROM document
WHERE resource_type_id BETWEEN %(type)s AND %(type)s AND change_version BETWEEN %(first_version)s AND %(last_version)s
"""

_UNFILTERED = "SELECT resource_type_id, {by} AS place, id {walk}"

# The first `wanted` matches: from the nearest rows if these have enough, from further rows if the estimate says so,
# otherwise from the index. `id + 0` prevents another scan along the primary key, and a BitmapAnd with it: a generic
# plan does not know whether the range is narrow.
_FILTERED = f"""
WITH near AS MATERIALIZED (
    SELECT d.resource_type_id, d.{{by}} AS place, d.id
      FROM (SELECT * {{walk}} ORDER BY resource_type_id, {{by}} LIMIT {_NEAR_ROWS}) d
     WHERE {{each_row}} ORDER BY d.resource_type_id, d.{{by}} LIMIT %(wanted)s
), further AS MATERIALIZED (
    SELECT d.resource_type_id, d.{{by}} AS place, d.id
      FROM (
        SELECT * {{walk}} ORDER BY resource_type_id, {{by}} OFFSET {_NEAR_ROWS} LIMIT ({_FURTHER_ROWS})
      ) d
     WHERE {{each_row}} ORDER BY d.resource_type_id, d.{{by}} LIMIT %(wanted)s
), walked AS MATERIALIZED (
    SELECT * FROM near UNION ALL SELECT * FROM further
)
SELECT * FROM walked WHERE (SELECT count(*) FROM walked) >= %(wanted)s
UNION ALL
(SELECT d.resource_type_id, d.{{by}}, d.id FROM document d
  WHERE (SELECT count(*) FROM walked) < %(wanted)s AND {{index}} AND d.id + 0 BETWEEN %(first)s AND %(last)s
  ORDER BY d.{{by}} + 0 LIMIT %(wanted)s)
"""

_FEW = """
SELECT d.resource_type_id, d.{by} AS place, d.id FROM document d
 WHERE {index} AND d.id + 0 BETWEEN %(first)s AND %(last)s
"""

# How many documents of a policy's access path are checked against the other conditions before an index is used.
_CANDIDATES = 300
# How many near rows are scanned first if the access path of the policy has many branches. The policy is evaluated for
# each, which costs some microseconds.
_GUARDED_NEAR_ROWS = 50

# The nearest rows, if the client sees many documents.
_NEAR = """
WITH near AS MATERIALIZED (
    SELECT d.resource_type_id, d.id AS place, d.id
      FROM (
        SELECT * {walk} ORDER BY resource_type_id, id LIMIT CASE WHEN {are_many} THEN %(near)s::bigint ELSE 0 END
      ) d
     WHERE {each_row} ORDER BY d.resource_type_id, d.id LIMIT %(wanted)s
)"""

# Then the documents of the policy's access path, if the policy is the only condition.
_ONLY_GUARDED = f"""{_NEAR}
SELECT * FROM near WHERE (SELECT count(*) FROM near) >= %(wanted)s
UNION ALL
(SELECT DISTINCT %(type)s::smallint, c.id, c.id FROM ({{candidates}}) c
  WHERE (SELECT count(*) FROM near) < %(wanted)s ORDER BY c.id LIMIT %(wanted)s)
"""

# With other conditions: the first documents of the access path are the result if enough of them match, or if there are
# no more; otherwise each of the `others` is checked, which are all of the path, or those that an index finds for
# another condition.
_GUARDED = f"""{_NEAR}, candidate AS MATERIALIZED (
    SELECT DISTINCT c.id FROM ({{candidates}}) c
     WHERE (SELECT count(*) FROM near) < %(wanted)s{{only_if}} ORDER BY c.id LIMIT %(looked_at)s
), own AS MATERIALIZED (
    SELECT c.id FROM (SELECT id FROM candidate ORDER BY id) c CROSS JOIN {{remaining}} ORDER BY c.id LIMIT %(wanted)s
), found AS MATERIALIZED (
    SELECT (SELECT count(*) FROM near) >= %(wanted)s AS is_near,
           (SELECT count(*) FROM own) >= %(wanted)s
             OR (SELECT count(*) FROM candidate) < %(looked_at)s{{only_if}} AS is_own
)
SELECT * FROM near WHERE (SELECT is_near FROM found)
UNION ALL
SELECT %(type)s::smallint, id, id FROM own WHERE (SELECT is_own AND NOT is_near FROM found)
UNION ALL
(SELECT %(type)s::smallint, c.id, c.id
   FROM (
     SELECT DISTINCT d.id FROM ({{others}}) d WHERE (SELECT NOT is_own AND NOT is_near FROM found) ORDER BY d.id
   ) c CROSS JOIN {{asked}}
  ORDER BY c.id LIMIT %(wanted)s)
"""
# The same in version order, for which no index has the documents of an organization: after the nearest rows, all
# documents of the access path are sorted if they are few; otherwise all documents for which the conditions hold.
_GUARDED_VERSIONS = """
WITH near AS MATERIALIZED (
    SELECT d.resource_type_id, d.change_version AS place, d.id
      FROM (SELECT * {walk} ORDER BY resource_type_id, change_version LIMIT %(near)s) d
     WHERE {each_row} ORDER BY d.resource_type_id, d.change_version LIMIT %(wanted)s
), found AS MATERIALIZED (
    SELECT (SELECT count(*) FROM near) >= %(wanted)s OR (
               SELECT count(*) FROM (SELECT FROM (SELECT * {walk} LIMIT %(near)s) d) d
           ) < %(near)s AS is_near, {are_many} AS are_many
)
SELECT * FROM near WHERE (SELECT is_near FROM found)
UNION ALL
(SELECT %(type)s::smallint, c.place, c.id
   FROM (
     SELECT d.change_version AS place, d.id
       FROM (SELECT DISTINCT c.id FROM ({candidates}) c WHERE (SELECT NOT is_near AND NOT are_many FROM found)) c
            CROSS JOIN LATERAL (SELECT d.change_version, d.id FROM document d WHERE d.id = c.id OFFSET 0) d
      ORDER BY d.change_version
   ) c CROSS JOIN {asked}
  ORDER BY c.place LIMIT %(wanted)s)
UNION ALL
(SELECT d.resource_type_id, d.change_version, d.id FROM document d
  WHERE (SELECT NOT is_near AND are_many FROM found) AND {index} AND d.id + 0 BETWEEN %(first)s AND %(last)s
  ORDER BY d.change_version + 0 LIMIT %(wanted)s)
"""
_FOUND_BY_INDEX = "SELECT d.id FROM document d WHERE {index} AND d.id + 0 BETWEEN %(first)s AND %(last)s"
_ASKED = "LATERAL (SELECT FROM document d WHERE d.id = c.id AND {each_row} OFFSET 0) d"
_PARAMETER = re.compile(r"(%\((\w+)\)s)(?:::(\w+(?:\[\])?))?")

_IN_WINDOW = "d.change_version BETWEEN %(first_version)s AND %(last_version)s"

_COUNT = """
SELECT count(*) FROM document d WHERE {index} AND d.id + 0 BETWEEN %(first)s AND %(last)s
"""

_PARTITION = """
WITH matching AS (
    SELECT d.id, row_number() OVER (ORDER BY d.id) - 1 AS place, count(*) OVER () AS total
      FROM document d WHERE {index} AND d.id + 0 BETWEEN %(first)s AND %(last)s
)
SELECT id FROM matching
 WHERE mod(place, greatest(ceil(total / %(number)s::numeric)::bigint, %(smallest)s)) = 0
 ORDER BY id
"""


class Order(Enum):
    """The order of a page: its column, and the FROM clause that scans documents in this order."""

    ROW = ("id", _ROWS)
    CHANGE_VERSION = ("change_version", _VERSIONS)

    @property
    def column(self) -> str:
        return self.value[0]

    @property
    def walk(self) -> str:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Selection:
    """Documents of one resource within ranges of rows and change versions for which all conditions hold."""

    resource_type: int
    conditions: tuple[Predicate, ...] = ()
    first_row: int = 0
    last_row: int = LAST_ROW
    first_version: int = 0
    last_version: int = LAST_VERSION
    order: Order = Order.ROW
    using: str = DEFAULT_DB_ALIAS

    def where(self, *conditions: Predicate) -> "Selection":
        return replace(self, conditions=self.conditions + conditions)

    def restricted_by(self, policy: RowPolicy | None) -> "Selection":
        """Only documents that the policy allows. Raises the policy's refusal if it cannot allow any."""
        return self if policy is None else self.where(policy.predicate())

    def between(self, first_row: int, last_row: int) -> "Selection":
        return replace(self, first_row=first_row, last_row=last_row)

    def within(self, first_version: int, last_version: int) -> "Selection":
        return replace(self, first_version=first_version, last_version=last_version)

    def ordered_by(self, order: Order) -> "Selection":
        return replace(self, order=order)

    @property
    def is_of_all_versions(self) -> bool:
        return (self.first_version, self.last_version) == (0, LAST_VERSION)


def all_documents(resource: Resource, using: str = DEFAULT_DB_ALIAS) -> Selection:
    """Every document of a resource."""
    return Selection(resource_types.numbers(using)[resource.name], using=using)


def page(selection: Selection, size: int, offset: int) -> Iterator[StoredDocument]:
    """`size` documents in the selection's order after `offset` others.

    One statement finds the page. If the documents are large, it returns the first ones; the others are read after these
    have been consumed, in their state at that time, without those that were deleted or no longer match.
    """
    parameters = _parameters(selection) | {"size": size, "offset": offset, "wanted": size + offset}
    parameters |= _window_sizes(selection, size + offset)
    rest = yield from _documents(_PAGE.format(found=_found(selection)), parameters, selection)
    while rest:
        still = _REST.format(each_row=_clauses(selection)["each_row"] or "true")
        rest = yield from _documents(still, parameters | {"rows": rest}, selection)


def _documents(
    page: str, parameters: Mapping[str, Any], selection: Selection
) -> Generator[StoredDocument, None, list[int]]:
    """Yields the first documents of a page, up to BYTES_AT_ONCE; returns the rows of the others."""
    statement = _DOCUMENTS.format(page=page)
    rest = []
    for row in _run(selection, statement, {**parameters, "bytes_at_once": BYTES_AT_ONCE}):
        number, _, text, *_ = row
        if text is None:
            rest.append(number)
        else:
            yield StoredDocument(*row)
    return rest


def _found(selection: Selection) -> str:
    order, clauses = selection.order, _clauses(selection)
    if not clauses["each_row"]:
        return _UNFILTERED.format(walk=order.walk, by=order.column)
    if any(each.finds_few for each in selection.conditions):
        return _FEW.format(by=order.column, **clauses)
    way = _way(selection)
    if way is None:
        return _FILTERED.format(walk=order.walk, by=order.column, **clauses)
    return _planned_once(_guarded(selection, way, clauses))


def _guarded(selection: Selection, way: AccessPath, clauses: Mapping[str, str]) -> str:
    """The statement for a page with a policy that has an access path."""
    each_row, all_candidates, are_many = clauses["each_row"], way.all_rows.text, way.has_many_branches.text
    parts = {"walk": selection.order.walk, "are_many": are_many, "candidates": way.first_rows.text}
    parts |= {"each_row": each_row}
    if selection.order is Order.CHANGE_VERSION:
        asked = _ASKED.format(each_row=_remaining(selection, way))
        return _GUARDED_VERSIONS.format(**parts | {"candidates": all_candidates}, index=clauses["index"], asked=asked)
    asked, remaining = _ASKED.format(each_row=each_row), _ASKED.format(each_row=_remaining(selection, way))
    if not _is_only_guarded(selection):
        others = _FOUND_BY_INDEX.format(index=_unguarded_index(selection))
        only_if = f" AND NOT {are_many}"
        return _GUARDED.format(**parts, others=others, only_if=only_if, remaining=remaining, asked=asked)
    if way.remaining is None:
        return _ONLY_GUARDED.format(**parts)
    return _GUARDED.format(**parts, others=all_candidates, only_if="", remaining=remaining, asked=remaining)


def _remaining(selection: Selection, way: AccessPath) -> str:
    """The conditions that documents of the access path still have to meet."""
    others = [each for each in selection.conditions if each.access_path is not way]
    asked = [condition.for_one_row.text for condition in others] + ([way.remaining.text] if way.remaining else [])
    return " AND ".join(asked + ([] if selection.is_of_all_versions else [_IN_WINDOW])) or "true"


def _way(selection: Selection) -> AccessPath | None:
    """The access path of the selection's policy, if there is one."""
    return next((each.access_path for each in selection.conditions if each.access_path), None)


def _unguarded_index(selection: Selection) -> str:
    """The index conditions without the policy, which is then evaluated for each row."""
    others = tuple(each for each in selection.conditions if each.access_path is None)
    return _clauses(replace(selection, conditions=others))["index"]


def _is_only_guarded(selection: Selection) -> bool:
    """Whether a policy with an access path is the only condition."""
    is_whole = selection.is_of_all_versions and selection.order is Order.ROW
    return is_whole and len(selection.conditions) == 1 and _way(selection) is not None


def _planned_once(statement: str) -> str:
    """The same statement with its parameters hidden from the planner in scalar subqueries.

    PostgreSQL would estimate custom plans to be cheaper than the generic one and plan at each execution, which takes
    several times as long as the execution. Each step here is bounded, so the best plan is the same for all values.
    """
    return _PARAMETER.sub(_unseen, statement)


def _unseen(parameter: re.Match[str]) -> str:
    type_ = parameter[3] or ("smallint" if parameter[2] == "type" else "bigint")
    return f"(SELECT {parameter[1]}::{type_})::{type_}"


def _window_sizes(selection: Selection, wanted: int) -> dict[str, int]:
    if not _is_only_guarded(selection):
        return {"near": _NEAR_ROWS, "looked_at": max(_CANDIDATES, wanted)}
    way = _way(selection)
    several = max(_GUARDED_NEAR_ROWS, 2 * wanted)
    return {"near": several, "looked_at": several if way and way.remaining else wanted}


def count(selection: Selection) -> int:
    """The exact number of documents, from which clients plan their requests.

    Without a filter an index is counted, about a second for some millions. With a filter each match is read, and ten
    thousand matches take about a tenth of a second; so only values with millions of matches can exceed the time limit
    of a request.
    """
    statement = _COUNT.format(**_clauses(selection))
    ((number,),) = _run(selection, statement, _parameters(selection))
    return int(number)


def partition(selection: Selection, number: int, smallest: int) -> list[int]:
    """The first row ids of at most `number` parts of about equal size; only the last may have less than `smallest`."""
    statement = _PARTITION.format(**_clauses(selection))
    parameters = _parameters(selection) | {"number": number, "smallest": smallest}
    return [row for (row,) in _run(selection, statement, parameters)]


def _clauses(selection: Selection) -> dict[str, str]:
    """`each_row`: the condition for rows of a scan in the selection's order; `index`: the condition for an index.

    Indexed conditions include the resource type, except that of the versions. If one condition finds few documents, the
    others are evaluated for each of these.
    """
    each_row = [condition.for_one_row.text for condition in selection.conditions]
    few = [condition.finds_few for condition in selection.conditions]
    index = [
        (condition.for_many_rows if finds_few or not any(few) else condition.for_one_row).text
        for condition, finds_few in zip(selection.conditions, few, strict=True)
    ] or ["d.resource_type_id = %(type)s"]
    if len(selection.conditions) == 1 and (alone := selection.conditions[0].alone):
        index = [alone.text]
    if not selection.is_of_all_versions:
        index = list(dict.fromkeys(["d.resource_type_id = %(type)s", *index, _IN_WINDOW]))
        each_row += [_IN_WINDOW] if selection.order is Order.ROW else []
    return {"each_row": " AND ".join(each_row), "index": " AND ".join(index)}


def _parameters(selection: Selection) -> dict[str, Any]:
    parameters: Mapping[str, Any] = {
        "type": selection.resource_type,
        "first": selection.first_row,
        "last": selection.last_row,
        "first_version": selection.first_version,
        "last_version": selection.last_version,
    }
    for part in (part for condition in selection.conditions for part in _parts(condition)):
        parameters = merged(parameters, part.parameters)
    return dict(parameters)


def _parts(condition: Predicate) -> Iterator[Sql]:
    yield from (condition.for_one_row, condition.for_many_rows, *([condition.alone] if condition.alone else []))
    if path := condition.access_path:
        yield from (path.first_rows, path.all_rows, path.has_many_branches)
        yield from [path.remaining] if path.remaining else []


def _run(selection: Selection, statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return with_retries(lambda: execute(Sql(statement, parameters), selection.using))
