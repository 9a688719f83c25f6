"""Operators of query parameters, `birthDate[gte]=2010-01-01`: query string → comparisons. See
meadowlark/docs/use/queries.md."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import ALL_ITEMS, QueryField, QueryType

MOST_VALUES = 100

_NAME = re.compile(r"(?P<field>[^\[\]]+)\[(?P<operator>[^\[\]]*)\]")


class Operator(StrEnum):
    """How the value at a path of a document is compared; the values are as clients write them."""

    GREATER = "gt"
    GREATER_OR_EQUAL = "gte"
    LESS = "lt"
    LESS_OR_EQUAL = "lte"
    IN = "in"
    PREFIX = "prefix"
    NOT_EQUAL = "ne"
    EXISTS = "exists"


_ANY_TYPE = (Operator.IN, Operator.NOT_EQUAL, Operator.EXISTS)
_RANGES = (Operator.GREATER, Operator.GREATER_OR_EQUAL, Operator.LESS, Operator.LESS_OR_EQUAL)
_ORDERED = (*_RANGES, *_ANY_TYPE)
_OPERATORS: Mapping[QueryType, tuple[Operator, ...]] = {
    QueryType.STRING: (*_RANGES, Operator.IN, Operator.PREFIX, Operator.NOT_EQUAL, Operator.EXISTS),
    QueryType.DESCRIPTOR: (Operator.IN, Operator.PREFIX, Operator.NOT_EQUAL, Operator.EXISTS),
    QueryType.BOOLEAN: _ANY_TYPE,
    QueryType.NUMBER: _ORDERED,
    QueryType.DATE: _ORDERED,
    QueryType.DATE_TIME: _ORDERED,
    QueryType.TIME: _ORDERED,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A query field, the parameter's name as sent, and the values that it is compared with, in the canonical form of
    stored bodies: one, or up to MOST_VALUES for `in`."""

    field: QueryField
    name: str
    operator: Operator
    values: tuple[Any, ...]


def parts_of(name: str) -> tuple[str, str] | None:
    """The field and the operator of `field[operator]`; None for other names."""
    match = _NAME.fullmatch(name)
    return (match["field"], match["operator"]) if match else None


def operators_of(field: QueryField) -> tuple[Operator, ...]:
    """The operators of a field; the id of documents, and values in the items of a collection, are compared by equality
    alone."""
    has_items = any(ALL_ITEMS in path.steps for path in field.paths)
    return () if field == ID_FIELD or has_items else _OPERATORS[field.type]


def texts_of(operator: Operator, text: str) -> list[str]:
    """The texts of the values of a parameter. A list cannot contain values with a comma."""
    return text.split(",") if operator is Operator.IN else [text]
