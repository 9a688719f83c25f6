"""Query string → typed filters, checked against the query fields of a resource. See
meadowlark/docs/reference/contract.md#queries."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

from django.utils.datastructures import MultiValueDict

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import coercion, dates_and_times
from edfi_api.core.documents.blanks import without_blanks
from edfi_api.core.documents.violations import Leniency, Reason, Tolerated
from edfi_api.core.documents.visible_part import is_always_visible
from edfi_api.core.queries.exceptions import (
    InvalidQueryValue,
    InvalidQueryValues,
    NotForChangeQueries,
    ParameterValidationFailed,
    UnknownQueryField,
)
from edfi_api.core.queries.operators import MOST_VALUES, Comparison, Operator, operators_of, parts_of, texts_of
from edfi_api.model.profiles.view import ObjectView
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import QueryField, QueryType, Resource

_log = logging.getLogger(__name__)


class OncePerProcess(logging.Filter):
    """Lets each message pass once, whatever its arguments."""

    def __init__(self) -> None:
        super().__init__()
        self._passed: set[object] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        is_first = record.msg not in self._passed
        self._passed.add(record.msg)
        return is_first


_log.addFilter(OncePerProcess())
# Each refusal is logged elsewhere.
_HINT = (
    "A query parameter that its resource does not have was refused. For clients of older Ed-Fi servers, which "
    "ignore such parameters, there is MEADOWLARK_COMPATIBILITY=ods. This is logged once by each process."
)

_OFFSET_PARAMETERS = frozenset({"limit", "offset", "totalcount"})
PAGING_PARAMETERS = _OFFSET_PARAMETERS | {"pagesize", "pagetoken"}
# Read by change queries; never filters.
CHANGE_VERSION_PARAMETERS = frozenset({"minchangeversion", "maxchangeversion"})
# On the partitions endpoint, a query field of the resource named `number` is not available.
PARTITION_PARAMETERS = PAGING_PARAMETERS | {"number"}
# Repeated, with `field[operator]=value` as its values: for clients whose library cannot send brackets in a name.
COMPARISONS_PARAMETER = "comparisons"


@dataclass(frozen=True, slots=True)
class Filter:
    """A query field, by the `name` as sent, and the requested value, in the canonical form of stored bodies."""

    field: QueryField
    name: str
    value: Any


def last_values(query: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Lower-cased parameter name → (name as sent, value); the last of repeated parameters wins."""
    return {name.lower(): (name, query[name]) for name in query}


def read_filters(
    fields: Mapping[str, QueryField],
    query: Mapping[str, str],
    other: Collection[str],
    leniency: Leniency,
    is_meant: Callable[[str], bool],
) -> list[Filter | Comparison]:
    """All filters and comparisons of a query string. `fields` has the query fields of the resource by their lower-cased
    names, `other` the lower-cased names of parameters that are neither; `is_meant` tells whether an unknown name is
    spelt like a filter.

    Raises UnknownQueryField for the first unknown name, unless IGNORE_UNKNOWN_PARAMETERS is set, handling lenient, and
    the name not meant as a filter, without which the query would find everything; ParameterValidationFailed for
    an operator that the field does not have, and for `comparisons` that are none; and InvalidQueryValues with all
    values that do not parse, or are refused by strict handling. `leniency` gets what is tolerated.
    """
    found: list[Filter | Comparison] = []
    invalid: list[InvalidQueryValue] = []
    for key, name, text in _conditions(query, other):
        field_name, operator_name = parts_of(key) or (key, None)
        field = fields.get(field_name)
        if field is None:
            _refuse_unknown(name, fields, leniency, is_meant)
        elif operator_name is None:
            invalid += _problems(field, name, text, leniency)
            found.append(Filter(field, name, _VALUE_TYPES[field.type].read(text)))
        else:
            operator = _operator(field, name, operator_name)
            texts = texts_of(operator, text)
            invalid += _problems_of_comparison(field, operator, name, texts, leniency)
            found.append(Comparison(field, name, operator, tuple(_value(field, operator, each) for each in texts)))
    if invalid:
        raise InvalidQueryValues(invalid)
    return found


def _conditions(query: Mapping[str, str], other: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the lower-cased name, the name as sent and the value of each parameter that is not in `other`, and of each
    comparison in `comparisons`."""
    for key, (name, text) in last_values(query).items():
        if key not in other and key != COMPARISONS_PARAMETER:
            yield key, name, text
    for name in query:
        if name.lower() == COMPARISONS_PARAMETER:
            yield from map(_comparison_parts, _values(query, name))


def _values(query: Mapping[str, str], name: str) -> list[str]:
    return query.getlist(name) if isinstance(query, MultiValueDict) else [query[name]]


def _comparison_parts(text: str) -> tuple[str, str, str]:
    name, separator, value = text.partition("=")
    if not separator or parts_of(name) is None:
        raise ParameterValidationFailed(
            [
                f"'{text}' is no comparison. The parameter comparisons has the form field[operator]=value, and is "
                "repeated for each further one."
            ]
        )
    return name.lower(), name, value


def _problems(field: QueryField, name: str, text: str, leniency: Leniency) -> list[InvalidQueryValue]:
    value_type = _VALUE_TYPES[field.type]
    if "\0" in text or not value_type.is_valid(value_type.read(text)):
        return [InvalidQueryValue(str(field.paths[0]), name, text)]
    if reason := value_type.reason(text):
        return refused([InvalidQueryValue(str(field.paths[0]), name, text, reason)], leniency)
    return []


def _operator(field: QueryField, name: str, operator_name: str) -> Operator:
    operators = operators_of(field)
    if operator_name not in operators:
        exist = ", ".join(operators) or "none"
        raise ParameterValidationFailed([f"The operator of {name} does not exist; those of {field.name} are: {exist}."])
    return Operator(operator_name)


def _value(field: QueryField, operator: Operator, text: str) -> Any:
    value_type = _BOOLEAN if operator is Operator.EXISTS else _VALUE_TYPES[field.type]
    return value_type.read(text)


def _problems_of_comparison(
    field: QueryField, operator: Operator, name: str, texts: list[str], leniency: Leniency
) -> list[InvalidQueryValue]:
    if len(texts) > MOST_VALUES:
        raise ParameterValidationFailed([f"{name} has {len(texts)} values; it may have {MOST_VALUES}."])
    if operator is Operator.EXISTS:
        is_boolean = _BOOLEAN.is_valid(_BOOLEAN.read(texts[0]))
        return [] if is_boolean else [InvalidQueryValue(str(field.paths[0]), name, texts[0])]
    return [problem for text in texts for problem in _problems(field, name, text, leniency)]


def refused(doubtful: Iterable[InvalidQueryValue], leniency: Leniency) -> list[InvalidQueryValue]:
    """The values that strict handling refuses: all of them, or none, which are noted as tolerated."""
    if leniency.is_strict:
        return list(doubtful)
    leniency.tolerated += [Tolerated(each.path, each.reason) for each in doubtful if each.reason]
    return []


def _refuse_unknown(
    name: str, fields: Mapping[str, QueryField], leniency: Leniency, is_meant: Callable[[str], bool]
) -> None:
    if leniency.is_strict or not api_settings.IGNORE_UNKNOWN_PARAMETERS or is_meant(name):
        _log.info(_HINT)
        raise UnknownQueryField(name, [field.name for field in fields.values()])
    leniency.tolerated.append(Tolerated(name, Reason.UNKNOWN_PARAMETER))


def refuse_filters(query: Mapping[str, str]) -> None:
    """Change queries accept only a window of change versions and limit/offset paging; raises NotForChangeQueries unless
    IGNORE_UNKNOWN_PARAMETERS is set."""
    if api_settings.IGNORE_UNKNOWN_PARAMETERS:
        return
    for key, (name, _) in last_values(query).items():
        if key not in _OFFSET_PARAMETERS | CHANGE_VERSION_PARAMETERS:
            raise NotForChangeQueries(name)


def is_natural_number(text: str, largest: int) -> bool:
    """Return whether a parameter is an integer from 0 to `largest`."""
    return text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= largest


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class _ValueType:
    """How a text is read, whether the result is a value of the type, and why strict handling refuses the text; a text
    that does not parse stays a text."""

    read: Callable[[str], Any] = str
    is_valid: Callable[[Any], bool] = lambda value: True
    reason: Callable[[str], Reason | None] = lambda text: None


def _reason_of_blanks(text: str) -> Reason | None:
    return None if without_blanks(text) is text else Reason.OTHER_FORM


def _reason_of(read: Callable[[str], dates_and_times.ReadTimestamp | None], text: str) -> Reason | None:
    reading = read(text)
    return None if reading is None else reading.reason


_BOOLEAN = _ValueType(coercion.coerce_boolean, lambda value: isinstance(value, bool), _reason_of_blanks)
_VALUE_TYPES: dict[QueryType, _ValueType] = {
    QueryType.STRING: _ValueType(),
    QueryType.DESCRIPTOR: _ValueType(coercion.trim_text, reason=_reason_of_blanks),
    QueryType.NUMBER: _ValueType(coercion.coerce_number, _is_number, _reason_of_blanks),
    QueryType.BOOLEAN: _BOOLEAN,
    QueryType.DATE: _ValueType(
        coercion.coerce_date, dates_and_times.is_date, partial(_reason_of, dates_and_times.read_date)
    ),
    QueryType.DATE_TIME: _ValueType(
        coercion.coerce_date_time, dates_and_times.is_date_time, partial(_reason_of, dates_and_times.read_date_time)
    ),
    QueryType.TIME: _ValueType(
        coercion.coerce_time, dates_and_times.is_time, partial(_reason_of, dates_and_times.read_time)
    ),
}


def with_visible_fields(resource: Resource, view: ObjectView | None) -> Resource:
    """The resource with those query fields of which a place is visible, at their visible places; likewise its fields of
    identification codes.

    A place below a filter counts as hidden, since a query could find documents by their hidden items.
    """
    if view is None:
        return resource
    return replace(
        resource,
        query_fields=tuple(_visible_fields(resource.query_fields, view)),
        code_fields=tuple(_visible_fields(resource.code_fields, view)),
    )


def _visible_fields(fields: Iterable[QueryField], view: ObjectView) -> Iterator[QueryField]:
    for field in fields:
        paths = tuple(path for path in field.paths if is_always_visible(path, view))
        if field == ID_FIELD:
            yield field
        elif paths:
            yield replace(field, paths=paths)
