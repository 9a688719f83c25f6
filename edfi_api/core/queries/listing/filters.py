"""Query string → filters on the fields of rows."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from edfi_api.core.queries.exceptions import (
    InvalidQueryValue,
    InvalidQueryValues,
    ParameterValidationFailed,
    UnknownQueryField,
)
from edfi_api.core.queries.listing.fields import Field
from edfi_api.core.storage.driver.sql import Sql


@dataclass(frozen=True, slots=True)
class FieldFilter:
    """A field and the value that is requested; a list of values if the field is repeated."""

    field: Field
    value: Any


@dataclass(frozen=True, slots=True)
class Unreadable:
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
    unreadable: list[Unreadable]

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
            found.unreadable.append(Unreadable(field, name, text))
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
