"""Reads the documents related to a document, a page at a time.

Referrers are read by type, a page of each in the order of creation, and the pages of all types are merged. An index
returns the referrers of a type in any order. If there are few, all are read and sorted. If there are many, as of a
descriptor or a school, the documents of the type next to the position are looked at first: whether each refers is in
the key of `reference`. Only if these do not fill the page, because most referrers are elsewhere, all are read.

One statement reads a page of names, and the first bodies, up to `BYTES_AT_ONCE`. The same statement reads the other
bodies, like a next page, so that memory does not grow with the page.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from edfi_api.core.queries.collection import BYTES_AT_ONCE
from edfi_api.core.queries.page_sql import BODY_BYTES
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute, with_retries
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import Predicate, RowPolicy
from edfi_api.core.storage.stored import STORED_COLUMNS, StoredDocument
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.web.relations.parameters import CreationOrder, Direction, RelationsQuery

# So many referrers are few; of more, as many documents next to the position are looked at.
FEW = 1_000

# The rows of related documents of some types, by direction. An alias belongs to at most one document, but a document
# may refer to both aliases of another.
_FOUND = {
    Direction.INCOMING: """
SELECT r.id FROM base JOIN alias a ON a.document_id = base.id CROSS JOIN unnest(%({types})s::smallint[]) AS type
 CROSS JOIN LATERAL (
    SELECT count(*) AS referrers FROM (
        SELECT FROM reference r WHERE r.alias_id = a.referential_id AND r.resource_type_id = type LIMIT {few} + 1
    ) few
 ) counted
 CROSS JOIN LATERAL (
    WITH near AS MATERIALIZED (
        SELECT d.id
          FROM (
            SELECT d.* FROM document d
             WHERE d.resource_type_id BETWEEN type AND type AND d.id BETWEEN %(first)s AND %(last)s
             ORDER BY d.resource_type_id {order}, d.id {order}
             LIMIT CASE WHEN referrers > {few} THEN {few} ELSE 0 END
          ) d CROSS JOIN LATERAL (
            SELECT FROM reference r WHERE r.document_id = d.id AND r.alias_id = a.referential_id OFFSET 0
          ) r
         WHERE true {conditions}
         ORDER BY d.resource_type_id {order}, d.id {order} LIMIT %(size)s
    )
    SELECT id FROM near WHERE (SELECT count(*) FROM near) >= %(size)s::bigint
     UNION ALL
    (SELECT r.document_id FROM reference r {document}
      WHERE r.alias_id = a.referential_id AND r.resource_type_id = type
        AND r.document_id BETWEEN %(first)s AND %(last)s {conditions}
        AND (SELECT count(*) FROM near) < %(size)s::bigint
      ORDER BY r.document_id {order} LIMIT %(size)s)
 ) r
 WHERE referrers > 0
""",
    Direction.OUTGOING: """
SELECT d.id FROM base JOIN reference r ON r.document_id = base.id
  JOIN alias a ON a.referential_id = r.alias_id JOIN document d ON d.id = a.document_id
 WHERE d.resource_type_id = ANY (%({types})s::smallint[]) AND d.id BETWEEN %(first)s AND %(last)s {conditions}
""",
}
_JOINED = {Direction.INCOMING: "JOIN document d ON d.id = r.document_id", Direction.OUTGOING: ""}
_ORDERS = {CreationOrder.OLDEST: "", CreationOrder.NEWEST: "DESC"}

_BASE = """
SELECT id FROM document d WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s{allowed}
"""
# A single row without an id means that the document exists but has no related documents.
_PAGE = """
WITH base AS (
{base}
), page AS (
    SELECT DISTINCT id FROM ({found}) found ORDER BY id {order} LIMIT %(size)s
)
SELECT d.resource_type_id, natural_key(d.resource_type_id, d.body), {columns}
  FROM base LEFT JOIN (
    SELECT d.*, sum({bytes}) OVER (ORDER BY d.id {order}) - {bytes} AS bytes_before
      FROM page JOIN document d USING (id)
  ) d ON true
 ORDER BY d.id {order}
"""
_BODY = f"CASE WHEN d.bytes_before < {BYTES_AT_ONCE} THEN d.body END"
_NO_BODY = "NULL::jsonb"


# A resource that a client may read, and the condition on its documents.
Readable = tuple[Resource, Predicate | None]


@dataclass(frozen=True, slots=True)
class RelatedDocument:
    """A document with its type; its text is None if it was read without its body."""

    name: ResourceName
    natural_key: str
    document: StoredDocument


_Read = Callable[[RelationsQuery], list[RelatedDocument] | None]


def related_documents(
    resource: Resource,
    document_uuid: UUID,
    query: RelationsQuery,
    readable: Iterable[Readable],
    *,
    policy: RowPolicy | None = None,
    using: str,
) -> Iterator[RelatedDocument] | None:
    """A page of the documents related to the document of this resource with this id; None if there is no such document,
    or none that the policy allows."""
    base = Sql(_BASE, {"document_uuid": document_uuid, "resource_type": resource_types.numbers(using)[resource.name]})
    base = base.fill(allowed="" if policy is None else " AND " + policy.using)
    resources = list(readable)

    def read(query: RelationsQuery) -> list[RelatedDocument] | None:
        statement = _page(query, resources, base, using)
        rows = with_retries(lambda: execute(statement, using))
        return [_related(row, using) for row in rows if row[0] is not None] if rows else None

    first = read(query)
    return None if first is None else _readings(first, query, read)


def _readings(found: list[RelatedDocument] | None, query: RelationsQuery, read: _Read) -> Iterator[RelatedDocument]:
    """The documents of a page. The next reading begins after the last document that came with its body."""
    while found:
        come = [each for each in found if each.document.text is not None] if query.with_bodies else found
        yield from come
        if len(come) == len(found):
            return
        query = replace(query, rows=query.next_token(come[-1].document.row), size=query.size - len(come))
        found = read(query)


def _page(query: RelationsQuery, readable: Sequence[Readable], base: Sql, using: str) -> Sql:
    order = _ORDERS[query.order]
    found = [
        _found(query.direction, f"types_{number}", types, conditions, order)
        for number, (conditions, types) in enumerate(_by_conditions(readable, using))
    ]
    page = Sql(_PAGE, {"first": query.rows.first, "last": query.rows.last, "size": query.size})
    return page.fill(
        base=base,
        found=Sql.join(" UNION ALL ", found) if found else "SELECT NULL::bigint AS id WHERE false",
        order=order,
        bytes=BODY_BYTES,
        columns=STORED_COLUMNS.format(body=_BODY if query.with_bodies else _NO_BODY),
    )


def _by_conditions(readable: Iterable[Readable], using: str) -> Iterable[tuple[Sql, list[int]]]:
    """The conditions, and the types that have them, which are read together."""
    numbers = resource_types.numbers(using)
    found: dict[str, tuple[Sql, list[int]]] = {}
    for resource, predicate in readable:
        conditions = Sql("") if predicate is None else " AND " + predicate.for_one_row
        found.setdefault(conditions.text, (conditions, []))[1].append(numbers[resource.name])
    return found.values()


def _found(direction: Direction, name: str, types: list[int], conditions: Sql, order: str) -> Sql:
    document = _JOINED[direction] if conditions.text else ""
    found = Sql(_FOUND[direction], {name: types})
    return found.fill(types=name, document=document, conditions=conditions, order=order, few=str(FEW))


def _related(row: Sequence[Any], using: str) -> RelatedDocument:
    resource_type, natural_key, *columns = row
    return RelatedDocument(resource_types.names(using)[resource_type], natural_key, StoredDocument(*columns))
