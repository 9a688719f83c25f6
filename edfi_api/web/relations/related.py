"""Reads the documents related to a document, a page at a time.

Referrers are read by type, a page of each in the order of creation, and the pages of all types are merged. An index
returns the referrers of a type in any order. If there are few, all are read and sorted. If there are many, as of a
descriptor or a school, the documents of the type next to the position are looked at first: whether each refers is in
the key of `reference`. Only if these do not fill the page, because most referrers are elsewhere, all are read.

One statement reads a page of names, and the first bodies, up to `BYTES_AT_ONCE`. The same statement reads the other
bodies, like a next page, so that memory does not grow with the page.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.http import QueryDict

from edfi_api.common.conf import api_settings
from edfi_api.core.queries.collection import BYTES_AT_ONCE
from edfi_api.core.queries.listing import Field, FieldType, natural_number, one_of, read_filters
from edfi_api.core.queries.page_sql import BODY_BYTES
from edfi_api.core.queries.pagination import PageToken
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import Predicate, RowPolicy
from edfi_api.core.storage.stored import STORED_COLUMNS, StoredDocument
from edfi_api.model.surface.load_order import targets_of
from edfi_api.model.surface.resource import Resource, ResourceName, Surface


class Direction(StrEnum):
    """The direction of a relation: lists the documents that refer to a document, or those that it refers to."""

    INCOMING = "incoming"
    OUTGOING = "outgoing"


class RelatedResources:
    """The related resources of each resource, including itself: a document may refer to another of its resource."""

    def __init__(self, surface: Surface) -> None:
        self._resources = surface.by_name
        outgoing = targets_of(surface.by_name, surface.abstract_resources, only_required=False)
        incoming: dict[ResourceName, set[ResourceName]] = {name: set() for name in outgoing}
        for name, targets in outgoing.items():
            for target in targets:
                incoming[target].add(name)
        self._names: Mapping[Direction, Mapping[ResourceName, set[ResourceName]]] = {
            Direction.INCOMING: incoming,
            Direction.OUTGOING: {name: set(targets) for name, targets in outgoing.items()},
        }

    def of(self, resource: Resource, direction: Direction) -> list[Resource]:
        """The related resources in a direction, in the order of their paths."""
        names = self._names[direction][resource.name] | {resource.name}
        return sorted((self._resources[name] for name in names), key=lambda each: each.url_path)


class _CreationOrder(StrEnum):
    """The order of documents, by creation."""

    OLDEST = "oldest"
    NEWEST = "newest"


class Include(StrEnum):
    """The parts that the answer can contain besides the names of the documents."""

    BODY = "body"


@dataclass(frozen=True, slots=True)
class RelationsQuery:
    """The parameters of a request for related documents; empty `resources` stands for all resources."""

    direction: Direction = Direction.INCOMING
    order: _CreationOrder = _CreationOrder.OLDEST
    resources: frozenset[ResourceName] = frozenset()
    with_bodies: bool = False
    size: int = 0
    rows: PageToken = field(default_factory=lambda: PageToken(0))

    def next_token(self, last_row: int) -> PageToken:
        """The token of the page after `last_row`."""
        if self.order is _CreationOrder.OLDEST:
            return PageToken(last_row + 1, self.rows.last)
        return PageToken(self.rows.first, last_row - 1)


def read(query: QueryDict, surface: Surface) -> RelationsQuery:
    """Read the query; all values of `resource` count. Raises UnknownQueryField for the first unknown name,
    ParameterValidationFailed for all unusable values.
    """
    largest: int = api_settings.MAX_PAGE_SIZE
    filters = read_filters(_fields(surface, largest), query)
    # In the order of the fields, whatever that of the query string.
    filters.unreadable.sort(key=lambda each: _ORDER.index(each.field.name))
    given = {each.field.name: each.value for each in filters.or_failed_validation()}
    return RelationsQuery(
        Direction(given.get("direction", Direction.INCOMING)),
        _CreationOrder(given.get("order", _CreationOrder.OLDEST)),
        frozenset(given.get("resource", ())),
        given.get("include") == Include.BODY,
        given.get("pageSize", largest),
        given.get("pageToken", PageToken(0)),
    )


_ORDER = ("direction", "order", "resource", "include", "pageSize", "pageToken")


def _fields(surface: Surface, largest: int) -> list[Field]:
    def resource(text: str) -> ResourceName:
        """Written as in paths: `ed-fi/studentSchoolAssociations`."""
        found = surface.resource_at(text)
        if found is None:
            raise ValueError(text)
        return found.name

    def token(text: str) -> PageToken:
        found = PageToken.parse(text)
        if found is None:
            raise ValueError(text)
        return found

    types = (
        one_of(Direction),
        one_of(_CreationOrder),
        FieldType(resource, "Resource '{text}' is unknown; it must read like ed-fi/students."),
        one_of(Include),
        natural_number(largest, f"{{name}} must be a value between 0 and {largest}."),
        FieldType(token, "The page token provided was invalid."),
    )
    return [Field(name, "", type_, name == "resource") for name, type_ in zip(_ORDER, types, strict=True)]


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
_ORDERS = {_CreationOrder.OLDEST: "", _CreationOrder.NEWEST: "DESC"}

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
        rows = run_with_retries(lambda: execute(statement, using))
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
