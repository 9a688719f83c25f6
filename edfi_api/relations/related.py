"""Reading the documents around one document, a page at a time.

Referrers are read type by type: the key of `reference` has alias, type and row of the referrer in this order, so for
each type a page is at hand in order of creation, and the pages of all types are merged. However many referrers there
are, no more than types times page size are looked at, apart from those that the client may not read.

One statement reads a page of names. Of bodies it reads the first ones, up to `BYTES_AT_ONCE`; the others are read by
the same statement, as the next page would be, so that memory does not grow with the page.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from edfi_api.documents import resource_types
from edfi_api.documents.collection import BYTES_AT_ONCE
from edfi_api.documents.execution import execute, with_retries
from edfi_api.documents.guards import STORED, Condition, Guard
from edfi_api.documents.statements import STORED_COLUMNS
from edfi_api.documents.stored import StoredDocument
from edfi_api.relations.neighbours import Direction
from edfi_api.relations.parameters import Asked, Order
from edfi_api.surface.resource import Resource, ResourceName

# The rows of documents of one type or of several, in the direction asked for. One alias leads to at most one document,
# but a document may refer to both aliases of another.
_FOUND = {
    Direction.INCOMING: """
SELECT r.id FROM base JOIN alias a ON a.document_id = base.id CROSS JOIN unnest(%({types})s::smallint[]) AS type
 CROSS JOIN LATERAL (
    SELECT r.document_id AS id FROM reference r {document}
     WHERE r.alias_id = a.referential_id AND r.resource_type_id = type
       AND r.document_id BETWEEN %(first)s AND %(last)s {conditions}
     ORDER BY r.document_id {order} LIMIT %(size)s
 ) r
""",
    Direction.OUTGOING: """
SELECT d.id FROM base JOIN reference r ON r.document_id = base.id
  JOIN alias a ON a.referential_id = r.alias_id JOIN document d ON d.id = a.document_id
 WHERE d.resource_type_id = ANY (%({types})s::smallint[]) AND d.id BETWEEN %(first)s AND %(last)s {conditions}
""",
}
_JOINED = {Direction.INCOMING: "JOIN document d ON d.id = r.document_id", Direction.OUTGOING: ""}
_ORDERS = {Order.OLDEST: "", Order.NEWEST: "DESC"}

# A single row without an id says that the document is there and has no neighbours.
_PAGE = """
WITH base AS (
    SELECT id FROM document d
     WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s{allowed}
), page AS (
    SELECT DISTINCT id FROM ({found}) found ORDER BY id {order} LIMIT %(size)s
)
SELECT d.resource_type_id, d.natural_key, {columns}
  FROM base LEFT JOIN (
    SELECT d.*, sum(pg_column_size(d.body)) OVER (ORDER BY d.id {order}) - pg_column_size(d.body) AS bytes_before
      FROM page JOIN document d USING (id)
  ) d ON true
 ORDER BY d.id {order}
"""
_BODY = f"CASE WHEN d.bytes_before < {BYTES_AT_ONCE} THEN d.body END"
_NO_BODY = "NULL::jsonb"


@dataclass(frozen=True, slots=True)
class Readable:
    """A resource that a client may read, and which of its documents: those for which all conditions hold."""

    resource: Resource
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class RelatedDocument:
    """A document with its type; its text is None if bodies were not asked for."""

    name: ResourceName
    natural_key: str
    document: StoredDocument


_Read = Callable[[Asked], list[RelatedDocument] | None]


def related_documents(
    resource: Resource,
    document_uuid: UUID,
    asked: Asked,
    readable: Iterable[Readable],
    *,
    guard: Guard | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> Iterator[RelatedDocument] | None:
    """A page of what is around the document of this resource with this id; None if there is no such document, or none
    that the guard allows."""
    allowed = "" if guard is None else f" AND {guard.sql(STORED)}"
    base = {"document_uuid": document_uuid, "resource_type": resource_types.numbers(using)[resource.name]}
    base |= {} if guard is None else guard.parameters
    neighbours = list(readable)

    def read(asked: Asked) -> list[RelatedDocument] | None:
        statement, parameters = _page(asked, neighbours, allowed, using)
        rows = with_retries(lambda: execute(statement, parameters | base, using))
        return [_related(row, using) for row in rows if row[0] is not None] if rows else None

    first = read(asked)
    return None if first is None else _readings(first, asked, read)


def _readings(found: list[RelatedDocument] | None, asked: Asked, read: _Read) -> Iterator[RelatedDocument]:
    """The documents of a page. Behind the last one that came with its body the next reading begins."""
    while found:
        come = [each for each in found if each.document.text is not None] if asked.with_bodies else found
        yield from come
        if len(come) == len(found):
            return
        asked = replace(asked, rows=asked.next_token(come[-1].document.row), size=asked.size - len(come))
        found = read(asked)


def _page(asked: Asked, readable: Sequence[Readable], allowed: str, using: str) -> tuple[str, dict[str, Any]]:
    parameters: dict[str, Any] = {"first": asked.rows.first, "last": asked.rows.last, "size": asked.size}
    order = _ORDERS[asked.order]
    found = []
    for number, (clauses, types) in enumerate(_by_conditions(readable, using).items()):
        types_name = f"types_{number}"
        parameters[types_name] = types
        found.append(_found(asked.direction, types_name, clauses, order))
    for each in readable:
        for condition in each.conditions:
            parameters |= condition.parameters
    statement = _PAGE.format(
        allowed=allowed,
        found=" UNION ALL ".join(found) or "SELECT NULL::bigint AS id WHERE false",
        order=order,
        columns=STORED_COLUMNS.format(body=_BODY if asked.with_bodies else _NO_BODY),
    )
    return statement, parameters


def _by_conditions(readable: Iterable[Readable], using: str) -> Mapping[str, list[int]]:
    """Types of which the same is asked are read together."""
    numbers = resource_types.numbers(using)
    found: dict[str, list[int]] = {}
    for each in readable:
        clauses = "".join(f" AND {condition.sql}" for condition in each.conditions)
        found.setdefault(clauses, []).append(numbers[each.resource.name])
    return found


def _found(direction: Direction, types: str, clauses: str, order: str) -> str:
    document = _JOINED[direction] if clauses else ""
    return _FOUND[direction].format(types=types, document=document, conditions=clauses, order=order)


def _related(row: Sequence[Any], using: str) -> RelatedDocument:
    resource_type, natural_key, *columns = row
    return RelatedDocument(resource_types.names(using)[resource_type], natural_key, StoredDocument(*columns))
