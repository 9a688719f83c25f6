"""The order that a client chooses, `orderBy=lastSurname,-birthDate`, and page tokens in this order.

A token has the values of the last document of its page, so the next page begins behind them, whatever is written,
changed or deleted in between. Documents with equal values are in the order of their rows.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from edfi_api.core.documents import json_text
from edfi_api.core.queries.exceptions import ParameterValidationFailed
from edfi_api.core.queries.query_indexes import IndexColumn, QueryIndex
from edfi_api.core.queries.stored_values import value_at
from edfi_api.core.storage.driver.sql import Sql, all_of, any_of
from edfi_api.core.storage.stored import StoredDocument
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import JsonPath, QueryField, Resource

ORDER_PARAMETER = "orderby"
MOST_TERMS = 4
_LARGEST_ROW = 2**63 - 1
# The largest exponent of a number is that of a double.
_LARGEST_EXPONENT = 308


@dataclass(frozen=True, slots=True)
class Position:
    """The place of a document in an order: the values by which it is ordered, None for missing ones, and its row."""

    values: tuple[Any, ...]
    row: int


@dataclass(frozen=True, slots=True)
class OrderBy:
    """The order of an index, which the database may have or not; `after` is the position behind which a page begins."""

    index: QueryIndex
    # As `create_query_index` takes it.
    definition: str
    after: Position | None = None

    def terms(self) -> str:
        """Return the terms of ORDER BY."""
        columns = [f"{value_at(each.path)}{' DESC' if each.descending else ''}" for each in self.index.values]
        return ", ".join([*columns, f"d.id{' DESC' if self._rows_descend else ''}"])

    def is_behind(self) -> Sql:
        """The condition on rows `d` behind the position; `true` without one."""
        if self.after is None:
            return Sql("true")
        values = [json_text.dumps(value).decode() for value in self.after.values]
        columns = [
            _Column(value_at(each.path), Sql(f"%(after_{number})s::jsonb", {f"after_{number}": value}), each.descending)
            for number, (each, value) in enumerate(zip(self.index.values, values, strict=True))
        ]
        row = _Column("d.id", Sql("%(after_row)s::bigint", {"after_row": self.after.row}), self._rows_descend)
        return _is_behind([*columns, row])

    def next_token(self, last: StoredDocument) -> str:
        """The token of the page behind a document."""
        body = json_text.loads(last.text)
        values = [_value(body, each.path) for each in self.index.values]
        return urlsafe_b64encode(json_text.dumps([self.index.name, last.row, values])).decode().rstrip("=")

    def behind(self, token: str) -> "OrderBy":
        """The order behind the position of a token. Raises ParameterValidationFailed if it is none of this order."""
        try:
            content = json_text.loads(urlsafe_b64decode(token.encode() + b"=" * (-len(token) % 4)))
        except (binascii.Error, ValueError, RecursionError):
            content = None
        match content:
            case [self.index.name, int(row), [*values]] if self._fits(row, values):
                return replace(self, after=Position(tuple(values), row))
        raise ParameterValidationFailed(["The page token provided was invalid."])

    def _fits(self, row: int, values: list[Any]) -> bool:
        is_row = type(row) is int and 0 <= row <= _LARGEST_ROW  # A boolean is an int to Python, and none to PostgreSQL.
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
    def behind(self) -> str:
        return "<" if self.descending else ">"


def _is_behind(columns: list[_Column]) -> Sql:
    first, *others = columns
    if all(each.descending == first.descending for each in others):
        expressions = ", ".join(each.expression for each in columns)
        return f"({expressions}) {first.behind} (" + Sql.join(", ", [each.value for each in columns]) + ")"
    ways = []
    for number, column in enumerate(columns):
        equal = [each.compared("=") for each in columns[:number]]
        ways.append(all_of([*equal, column.compared(column.behind)]))
    # Implied by the others: where an index is entered.
    return all_of([first.compared(first.behind + "="), any_of(ways)])


def _can_be_stored(value: Any) -> bool:
    """Whether a value of a token may be one of a body: PostgreSQL takes neither NUL in texts nor any exponent."""
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
