"""Operators of query parameters, `birthDate[gte]=2010-01-01`: query string → comparisons; and whether a parameter that
a resource does not have may be meant as one of its filters. See meadowlark/docs/use/queries.md."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from edfi_api.model.surface.columns import SURROGATE_ID, UNIQUE_ID
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import ALL_ITEMS, QueryField, QueryType, Resource

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


_SERVER_MEMBERS = ("_etag", "_lastModifiedDate")
_SEPARATORS = re.compile(r"[^0-9a-z]+|_+")
# Other APIs write these before or after the name of a member: `birthDate.gte`, `birthDate__lt`, `minBirthDate`.
_COMPARISONS = (
    "after", "atleast", "atmost", "before", "begin", "begins", "beginswith", "between", "contains", "end", "ends",
    "endswith", "eq", "equal", "equals", "equalto", "exact", "exists", "from", "ge", "greaterorequal", "greaterthan",
    "greaterthanequal", "greaterthanorequal", "greaterthanorequalto", "gt", "gte", "has", "icontains", "iexact",
    "ilike", "in", "is", "isnot", "isnull", "istartswith", "le", "lessorequal", "lessthan", "lessthanequal",
    "lessthanorequal", "lessthanorequalto", "like", "lt", "lte", "max", "maximum", "min", "minimum", "ne", "neq", "nin",
    "not", "notequal", "notequals", "notequalto", "notin", "notnull", "on", "onorafter", "onorbefore", "prefix",
    "range", "regex", "since", "start", "starts", "startswith", "suffix", "to", "until",
)  # fmt: skip
_NAMES_OF_COMPARISONS = frozenset((*Operator, *_COMPARISONS))
_FIELD_WITH_MORE = re.compile(r"\s*([^\W_]+)[\W_]+\S*")
# Parameters of other APIs that contain filters: `$filter`, `filter[lastSurname]`.
_FILTERS = frozenset({"filter", "filters", "where", "comparison", "comparisons"})


class MeantFilters:
    """The names of a resource's members, at every depth, and of the numbers that stand for their values in databases of
    the ODS/API, for which parameters with other names may stand."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource

    def match(self, name: str) -> bool:
        """Return whether the parameter `name` is spelt like a member, several of them, or a comparison, even of no
        member. Without regard to case, and to what separates its words."""
        words = _words(name)
        joined = "".join(words)
        _, operator = parts_of(name.lower()) or ("", "")
        return (
            operator in _NAMES_OF_COMPARISONS
            or joined in self._members
            or joined.removesuffix("s") in self._members
            or not _FILTERS.isdisjoint(words)
            or any(rest in self._members for rest in _without_comparison(joined))
            or (_has_parts(name) and not self._members.isdisjoint(words))
        )

    @cached_property
    def _members(self) -> frozenset[str]:
        served = (other.name for other in self._resource.served_names)
        names = [*_SERVER_MEMBERS, *_names(self._resource.json_schema), *served]
        numbers = _names_of_numbers([self._resource.name.resource, *names])
        return frozenset(name.lower().lstrip("_") for name in (*names, *numbers))


def compared_field(name: str, fields: Iterable[str]) -> str | None:
    """The one of the fields of which the parameter `name` is spelt like a comparison: `birthDate>`, `birthDate__lt`,
    `minBirthDate`. None if it is of none."""
    by_name = {field.lower(): field for field in fields}
    begun = _FIELD_WITH_MORE.fullmatch(name.rstrip())
    if begun and begun[1].lower() in by_name and name.strip().lower() not in by_name:
        return by_name[begun[1].lower()]
    joined = "".join(_words(name))
    return next((by_name[rest] for rest in _without_comparison(joined) if rest in by_name and rest != joined), None)


def _words(name: str) -> list[str]:
    return [word for word in _SEPARATORS.split(name.lower()) if word]


def _without_comparison(name: str) -> Iterator[str]:
    for word in _COMPARISONS:
        yield name.removesuffix(word)
        yield name.removeprefix(word)


def _has_parts(name: str) -> bool:
    """Return whether the name may be a path or a comparison, such as `address.city`; `api_version` is not."""
    return "__" in name or any(not (letter.isalnum() or letter in "_-") for letter in name)


def _names_of_numbers(names: Iterable[str]) -> Iterator[str]:
    """`gradeLevelDescriptorId`, which OpenAPI documents of the ODS/API offer for descriptors, and `studentUSI`."""
    for name in names:
        if is_descriptor_name(name):
            yield f"{name}Id"
        elif name.endswith(UNIQUE_ID):
            yield name.removesuffix(UNIQUE_ID) + SURROGATE_ID


def _names(schema: dict[str, Any]) -> Iterator[str]:
    for name, member in schema.get("properties", {}).items():
        yield name
        yield from _names(member)
    if "items" in schema:
        yield from _names(schema["items"])
