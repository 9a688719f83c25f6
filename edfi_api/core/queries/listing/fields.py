"""Fields of rows: what query strings can name, how their values are read, and the filters that they make."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from django.http import QueryDict

from edfi_api.core.queries.exceptions import (
    InvalidQueryValue,
    InvalidQueryValues,
    ParameterValidationFailed,
    UnknownQueryField,
)
from edfi_api.core.queries.parameters import is_natural_number
from edfi_api.core.storage.driver.sql import Sql
from references.identity import as_uuid

_BIGINT = range(-(2**63), 2**63)
_INTEGER = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class FieldType:
    """`read` returns the value of a text, and raises ValueError if it has none; `problem` is then the message to the
    client, with `{name}` and `{text}`. `sql` is PostgreSQL's name of the type, `selected` the SQL that reads a
    `{value}`."""

    read: Callable[[str], Any]
    problem: str = ""
    sql: str = "text"
    selected: str = "({value})::text"


@dataclass(frozen=True, slots=True)
class Field:
    """A value of each row. `source` is its SQL, or the lookup of a query set; of a repeated parameter all values count
    if the field `is_repeated`, otherwise the last."""

    name: str
    source: str
    type: FieldType
    is_repeated: bool = False

    @property
    def selected(self) -> str:
        """The SQL that reads it."""
        return self.type.selected.format(value=self.source)


def one_of(choices: Iterable[str]) -> FieldType:
    """Some lower-cased texts, in any case."""
    known = tuple(choices)

    def read(text: str) -> str:
        if text.lower() not in known:
            raise ValueError(text)
        return text.lower()

    return FieldType(read, f"{{name}} must be one of: {', '.join(known)}.")


def natural_number(largest: int, problem: str = "{name} must be a number.", smallest: int = 0) -> FieldType:
    """An integer from `smallest` to `largest`."""

    def read(text: str) -> int:
        if not is_natural_number(text, largest) or int(text) < smallest:
            raise ValueError(text)
        return int(text)

    return FieldType(read, problem, "bigint", "({value})::bigint")


def _text(text: str) -> str:
    if "\0" in text:  # No stored text has it.
        raise ValueError(text)
    return text


def _uuid(text: str) -> str:
    if as_uuid(text) is None:
        raise ValueError(text)
    return text


def _bigint(text: str) -> int:
    if not _INTEGER.fullmatch(text) or int(text) not in _BIGINT:
        raise ValueError(text)
    return int(text)


def _timestamp(text: str) -> str:
    """Return the time of the text. Without an offset it is in UTC, as times in answers are."""
    timestamp = datetime.fromisoformat(text)
    return (timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)).isoformat()


def _date(text: str) -> str:
    return date.fromisoformat(text).isoformat()


TEXT = FieldType(_text, "A value has a NUL in it.")
UUID = FieldType(_uuid, "{name} must be an id.", "uuid", "({value})::uuid")
BIGINT = FieldType(_bigint, "{name} must be a number.", "bigint", "({value})::bigint")
DATE = FieldType(_date, sql="date")
# Answers have it in UTC, with microseconds.
TIMESTAMP = FieldType(
    _timestamp,
    sql="timestamptz",
    selected="""to_char({value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')""",
)


@dataclass(frozen=True, slots=True)
class FieldFilter:
    """A field and the value that is requested; a list of values if the field is repeated."""

    field: Field
    value: Any


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A text that is no value of its field; `name` is that of the parameter, as it was sent."""

    field: Field
    name: str
    text: str

    @property
    def message(self) -> str:
        """The text for clients: `Status must be a number.`"""
        name = self.field.name[:1].upper() + self.field.name[1:]
        return self.field.type.problem.format(name=name, text=self.text)


@dataclass(frozen=True, slots=True)
class Filters:
    """All filters of a query string, and what could not be read, in the order of the query string."""

    read: list[FieldFilter]
    unreadable: list[_Unreadable]

    def or_invalid_values(self) -> list[FieldFilter]:
        """Raises InvalidQueryValues with all that could not be read, by the paths of fields."""
        if self.unreadable:
            raise InvalidQueryValues(
                [InvalidQueryValue(f"$.{each.field.name}", each.name, each.text) for each in self.unreadable]
            )
        return self.read

    def or_failed_validation(self) -> list[FieldFilter]:
        """Raises ParameterValidationFailed with a message about each text that could not be read."""
        if self.unreadable:
            raise ParameterValidationFailed([each.message for each in self.unreadable])
        return self.read


def read_filters(fields: Iterable[Field], query: QueryDict, others: Collection[str] | None = ()) -> Filters:
    """The filters of a query string. Names are case-insensitive. `others` are lower-cased names of parameters that are
    no filters; None lets every name be one. Raises UnknownQueryField for the first unknown name."""
    known = {field.name.lower(): field for field in fields}
    found = Filters([], [])
    for name, values in _last_spelling(query).values():
        field = known.get(name.lower())
        if field is not None:
            _read(field, name, values, found)
        elif others is not None and name.lower() not in others:
            raise UnknownQueryField(name)
    return found


def _last_spelling(query: QueryDict) -> Mapping[str, tuple[str, list[str]]]:
    """Lower-cased name → the name as sent, and its values."""
    return {name.lower(): (name, [str(value) for value in values]) for name, values in query.lists()}


def _read(field: Field, name: str, texts: list[str], found: Filters) -> None:
    values = []
    for text in texts if field.is_repeated else texts[-1:]:
        try:
            values.append(field.type.read(text))
        except ValueError:
            found.unreadable.append(_Unreadable(field, name, text))
    if values:
        found.read.append(FieldFilter(field, values if field.is_repeated else values[0]))


def as_sql(filters: Iterable[FieldFilter], given: Mapping[str, Any] | None = None) -> dict[str, Sql]:
    """The condition of each filter, by the name of its field. `given` are the values of parameters in the SQL of
    fields."""
    found: dict[str, Sql] = {}
    for number, each in enumerate(filters):
        condition = f"{each.field.source} = %(filter_{number})s::{each.field.type.sql}"
        found[each.field.name] = Sql(condition, {**(given or {}), f"filter_{number}": each.value})
    return found
