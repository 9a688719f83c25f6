"""Query string → typed filters, checked against the query fields of a resource. See
meadowlark/docs/contract.md#queries."""

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from edfi_api.conf import api_settings
from edfi_api.documents import coercion
from edfi_api.model.surface.resource import QueryField, QueryType, Resource
from edfi_api.queries.exceptions import (
    InvalidQueryValue,
    InvalidQueryValues,
    NotForChangeQueries,
    UnknownQueryField,
)

_log = logging.getLogger(__name__)

_WINDOW_PARAMETERS = frozenset({"limit", "offset", "totalcount"})
PAGING_PARAMETERS = _WINDOW_PARAMETERS | {"pagesize", "pagetoken"}
# Read by change queries; never filters.
CHANGE_VERSION_PARAMETERS = frozenset({"minchangeversion", "maxchangeversion"})
# On the partitions endpoint, a query field of the resource named `number` is not available.
PARTITION_PARAMETERS = PAGING_PARAMETERS | {"number"}


@dataclass(frozen=True, slots=True)
class Filter:
    """A query field and the requested value, in the canonical form of stored bodies."""

    field: QueryField
    value: Any


def last_values(query: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Lower-cased parameter name → (name as sent, value); the last of repeated parameters wins."""
    return {name.lower(): (name, query[name]) for name in query}


def read_filters(
    resource: Resource, query: Mapping[str, str], other: Collection[str] = PAGING_PARAMETERS
) -> list[Filter]:
    """All filters of a query string; `other` has the lower-cased names of parameters that are not filters.

    Raises UnknownQueryField for the first unknown name, unless IGNORE_UNKNOWN_PARAMETERS is set, and
    InvalidQueryValues with all values that do not parse.
    """
    fields = {field.name.lower(): field for field in resource.query_fields}
    asked = {key: given for key, given in last_values(query).items() if key not in other}
    unknown = [name for key, (name, _) in asked.items() if key not in fields]
    if unknown and not api_settings.IGNORE_UNKNOWN_PARAMETERS:
        _log_compatibility()
        raise UnknownQueryField(unknown[0])
    filters, invalid = [], []
    for field, (name, text) in [(fields[key], given) for key, given in asked.items() if key in fields]:
        value = _READERS.get(field.type, str)(text)
        if _FORMS[field.type](value) and "\0" not in text:
            filters.append(Filter(field, value))
        else:
            invalid.append(InvalidQueryValue(str(field.paths[0]), name, text))
    if invalid:
        raise InvalidQueryValues(invalid)
    return filters


@cache
def _log_compatibility() -> None:
    """Logs the hint once per process (`cache`); each refusal is logged elsewhere."""
    _log.info(
        "A query parameter that its resource does not have was refused. For clients of older Ed-Fi servers, which "
        "ignore such parameters, there is MEADOWLARK_COMPATIBILITY=ods. This is logged once by each process."
    )


def refuse_filters(query: Mapping[str, str]) -> None:
    """Change queries accept only a window of change versions and limit/offset paging; raises NotForChangeQueries."""
    for key, (name, _) in last_values(query).items():
        if key not in _WINDOW_PARAMETERS | CHANGE_VERSION_PARAMETERS:
            raise NotForChangeQueries(name)


def is_natural_number(text: str, largest: int) -> bool:
    """Whether a parameter is a whole number from 0 to `largest`."""
    return text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= largest


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


_READERS: dict[QueryType, Callable[[str], Any]] = {
    QueryType.NUMBER: coercion.coerce_number,
    QueryType.BOOLEAN: coercion.coerce_boolean,
    QueryType.DATE: coercion.coerce_date,
    QueryType.DATE_TIME: coercion.coerce_date_time,
    QueryType.TIME: coercion.coerce_time,
}
_FORMS: dict[QueryType, Callable[[Any], bool]] = {
    QueryType.STRING: lambda value: True,
    QueryType.DESCRIPTOR: lambda value: True,
    QueryType.NUMBER: _is_number,
    QueryType.BOOLEAN: lambda value: isinstance(value, bool),
    QueryType.DATE: coercion.is_date,
    QueryType.DATE_TIME: coercion.is_date_time,
    QueryType.TIME: coercion.is_time,
}
