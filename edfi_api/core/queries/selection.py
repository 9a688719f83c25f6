"""What is requested of a collection: `Selection`, the documents of one resource for which all predicates hold, and the
order that a client chooses for them, `orderBy=lastSurname,-birthDate`.

A page token of such an order has the values of the last document of its page, so the next page begins after them,
whatever is written, changed or deleted in between. Documents with equal values are in the order of their rows.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from typing import Any

from edfi_api.core.documents import json_text
from edfi_api.core.queries.exceptions import ParameterValidationFailed
from edfi_api.core.queries.query_indexes import IndexColumn, QueryIndex, value_at
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.sql import Sql, all_of, any_of
from edfi_api.core.storage.row_policy import Predicate, RowPolicy
from edfi_api.core.storage.stored import StoredDocument
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import JsonPath, QueryField, Resource

ORDER_PARAMETER = "orderby"
MOST_TERMS = 4
LAST_ROW = LAST_VERSION = 2**63 - 1
# The largest exponent of a number is that of a double.
_LARGEST_EXPONENT = 308


@dataclass(frozen=True, slots=True)
class Position:
    """The place of a document in an order: the values by which it is ordered, None for missing ones, and its row."""

    values: tuple[Any, ...]
    row: int


@dataclass(frozen=True, slots=True)
class OrderBy:
    """The order of an index, which the database may have or not; `after` is the position after which a page begins."""

    index: QueryIndex
    # As `create_query_index` takes it.
    definition: str
    after: Position | None = None

    def terms(self) -> str:
        """Return the terms of ORDER BY."""
        columns = [f"{value_at(each.path)}{' DESC' if each.descending else ''}" for each in self.index.values]
        return ", ".join([*columns, f"d.id{' DESC' if self._rows_descend else ''}"])

    def is_after(self) -> Sql:
        """The condition on rows `d` after the position; `true` without one."""
        if self.after is None:
            return Sql("true")
        values = [json_text.dumps(value).decode() for value in self.after.values]
        columns = [
            _Column(value_at(each.path), Sql(f"%(after_{number})s::jsonb", {f"after_{number}": value}), each.descending)
            for number, (each, value) in enumerate(zip(self.index.values, values, strict=True))
        ]
        row = _Column("d.id", Sql("%(after_row)s::bigint", {"after_row": self.after.row}), self._rows_descend)
        return _is_after([*columns, row])

    def next_token(self, last: StoredDocument) -> str:
        """The token of the page after a document."""
        body = json_text.loads(last.text)
        values = [_value(body, each.path) for each in self.index.values]
        return urlsafe_b64encode(json_text.dumps([self.index.name, last.row, values])).decode().rstrip("=")

    def starting_after(self, token: str) -> "OrderBy":
        """The order after the position of a token. Raises ParameterValidationFailed if it is none of this order."""
        try:
            content = json_text.loads(urlsafe_b64decode(token.encode() + b"=" * (-len(token) % 4)))
        except (binascii.Error, ValueError, RecursionError):
            content = None
        match content:
            case [self.index.name, int(row), [*values]] if self._fits(row, values):
                return replace(self, after=Position(tuple(values), row))
        raise ParameterValidationFailed(["The page token provided was invalid."])

    def _fits(self, row: int, values: list[Any]) -> bool:
        is_row = type(row) is int and 0 <= row <= LAST_ROW  # A boolean is an int to Python, and none to PostgreSQL.
        return is_row and len(values) == len(self.index.values) and all(map(_can_be_stored, values))

    @property
    def _rows_descend(self) -> bool:
        return self.index.values[0].descending


def read_order(resource: Resource, fields: Mapping[str, QueryField], text: str) -> OrderBy:
    """The order of `orderBy`; `fields` has the query fields by their lower-cased names. A field with several paths is
    ordered by the first of them.

    Raises ParameterValidationFailed for unknown and repeated fields, and for more than MOST_TERMS.
    """
    names = [name.strip() for name in text.split(",")]
    if len(names) > MOST_TERMS:
        raise ParameterValidationFailed([f"OrderBy has {len(names)} fields; it may have {MOST_TERMS}."])
    values: dict[JsonPath, IndexColumn] = {}
    for name in names:
        field = fields.get(name.removeprefix("-").lower())
        if field is None or field == ID_FIELD or field.paths[0] in values:
            raise ParameterValidationFailed([f"OrderBy must have query fields, once each; '{name}' is not one."])
        values[field.paths[0]] = IndexColumn(field.paths[0], descending=name.startswith("-"))
    definition = f"{resource.url_path.lstrip('/')}.{','.join(names)}"
    return OrderBy(QueryIndex(resource, tuple(values.values())), definition)


@dataclass(frozen=True, slots=True)
class _Column:
    expression: str
    value: Sql
    descending: bool

    def compared(self, operator: str) -> Sql:
        return f"{self.expression} {operator} " + self.value

    @property
    def operator_after(self) -> str:
        return "<" if self.descending else ">"


def _is_after(columns: list[_Column]) -> Sql:
    first, *others = columns
    if all(each.descending == first.descending for each in others):
        expressions = ", ".join(each.expression for each in columns)
        return f"({expressions}) {first.operator_after} (" + Sql.join(", ", [each.value for each in columns]) + ")"
    ways = []
    for number, column in enumerate(columns):
        equal = [each.compared("=") for each in columns[:number]]
        ways.append(all_of([*equal, column.compared(column.operator_after)]))
    # Implied by the others: where an index is entered.
    return all_of([first.compared(first.operator_after + "="), any_of(ways)])


def _can_be_stored(value: Any) -> bool:
    """Return whether a value of a token may be one of a body: PostgreSQL takes neither NUL in texts nor any
    exponent."""
    match value:
        case str():
            return "\0" not in value
        case Decimal():
            return abs(value.adjusted()) <= _LARGEST_EXPONENT
    return value is None or isinstance(value, int | float)


def _value(body: Any, path: JsonPath) -> Any:
    for step in path.steps:
        body = body.get(step) if isinstance(body, dict) else None
    return body


class Order(Enum):
    """The order of a page; the values are columns of `document`."""

    ROW = "id"
    CHANGE_VERSION = "change_version"


@dataclass(frozen=True, slots=True)
class Window:
    """The change versions from `first` to `last`, inclusive."""

    first: int = 0
    last: int = LAST_VERSION

    @property
    def is_bounded(self) -> bool:
        """Whether there is an upper bound."""
        return self.last < LAST_VERSION


EVERY_VERSION = Window()


@dataclass(frozen=True, slots=True)
class Selection:
    """Documents of one resource within a range of rows and a window of change versions for which all predicates hold.

    `resource_type` is the number of the resource, `first_row` and `last_row` are row ids, inclusive. `order_by`, if
    given, is the client's order, which then takes the place of `order`.
    """

    resource_type: int
    predicates: tuple[Predicate, ...] = ()
    first_row: int = 0
    last_row: int = LAST_ROW
    window: Window = EVERY_VERSION
    order: Order = Order.ROW
    order_by: OrderBy | None = None
    using: str = field(kw_only=True)

    def where(self, *predicates: Predicate) -> "Selection":
        return replace(self, predicates=self.predicates + predicates) if predicates else self

    def restricted_by(self, policy: RowPolicy | None) -> "Selection":
        """Return the selection of those documents that the policy allows. Raises the policy's refusal if it cannot
        allow any.
        """
        return self if policy is None else self.where(policy.predicate())

    def between(self, first_row: int, last_row: int) -> "Selection":
        return replace(self, first_row=first_row, last_row=last_row)

    def within(self, window: Window) -> "Selection":
        return replace(self, window=window)

    def ordered_by(self, order: Order) -> "Selection":
        return replace(self, order=order)

    def in_order_of(self, order_by: OrderBy) -> "Selection":
        return replace(self, order=Order.ROW, order_by=order_by)

    @property
    def is_of_all_versions(self) -> bool:
        return self.window == EVERY_VERSION


def all_documents(resource: Resource, using: str) -> Selection:
    """Every document of a resource."""
    return Selection(resource_types.numbers(using)[resource.name], using=using)
