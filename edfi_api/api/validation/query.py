"""Query string → conditions on rows, for the small collections of validation."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from edfi_api.queries.exceptions import (
    InvalidQueryValue,
    InvalidQueryValues,
    ParameterValidationFailed,
    UnknownQueryField,
)
from edfi_api.queries.parameters import CHANGE_VERSION_PARAMETERS, PAGING_PARAMETERS, last_values
from edfi_api.storage.driver.sql import Sql

_BIGINT = range(-(2**63), 2**63)
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Field:
    """A query parameter: its name, the SQL of the value with which it is compared, and the type of that."""

    name: str
    value: str
    type: str = "text"


def conditions(
    fields: Collection[Field],
    query: Mapping[str, str],
    others: Collection[str] = (),
    given: Mapping[str, Any] | None = None,
) -> dict[str, Sql]:
    """The condition of each filter by the name of its field; `others` are lower-cased names that are no filters. Names
    are case-insensitive. `given` are the values of parameters in the SQL of fields.

    Raises UnknownQueryField, and InvalidQueryValues with all values that cannot be read.
    """
    known = {field.name.lower(): field for field in fields}
    found: dict[str, Sql] = {}
    invalid: list[InvalidQueryValue] = []
    for key, (name, text) in last_values(query).items():
        if key in PAGING_PARAMETERS or key in others:
            continue
        field = known.get(key)
        if field is None:
            raise UnknownQueryField(name)
        parameter = f"filter_{len(found)}"
        condition = Sql(f"{field.value} = %({parameter})s::{field.type}", given or {})
        try:
            found[field.name] = condition.with_values(**{parameter: _READ[field.type](text)})
        except ValueError:
            invalid.append(InvalidQueryValue(f"$.{field.name}", name, text))
    if invalid:
        raise InvalidQueryValues(invalid)
    return found


def choice(query: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """The value of a parameter; the first of the choices without it. Raises ParameterValidationFailed."""
    _, value = last_values(query).get(name.lower(), ("", choices[0]))
    if value.lower() not in choices:
        raise ParameterValidationFailed([f"{name.capitalize()} must be one of: {', '.join(choices)}."])
    return value.lower()


def _text(text: str) -> str:
    if "\0" in text:
        raise ValueError(text)
    return text


def _uuid(text: str) -> str:
    if not _UUID.fullmatch(text):
        raise ValueError(text)
    return text


def _bigint(text: str) -> int:
    if not _INTEGER.fullmatch(text) or int(text) not in _BIGINT:
        raise ValueError(text)
    return int(text)


def _moment(text: str) -> str:
    """Without an offset it is in UTC, as times in answers are."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _date(text: str) -> str:
    return date.fromisoformat(text).isoformat()


# By type: what reads a value, and raises ValueError.
_READ: Mapping[str, Callable[[str], Any]] = {
    "text": _text,
    "uuid": _uuid,
    "bigint": _bigint,
    "timestamptz": _moment,
    "date": _date,
}
VERSIONS = CHANGE_VERSION_PARAMETERS
