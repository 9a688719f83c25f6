"""Query string → conditions on rows, for the small collections of validation."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from edfi_api.queries.exceptions import (
    InvalidQueryValue,
    InvalidQueryValues,
    ParameterValidationFailed,
    UnknownQueryField,
)
from edfi_api.queries.parameters import CHANGE_VERSION_PARAMETERS, last_values
from edfi_api.storage.driver.sql import Sql

_BIGINT = range(-(2**63), 2**63)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PAGING = ("limit", "offset", "totalcount")


@dataclass(frozen=True, slots=True)
class Field:
    """A query parameter: its name, the SQL of the value with which it is compared, and the type of that."""

    name: str
    value: str
    type: str = "text"


def conditions(fields: Collection[Field], query: Mapping[str, str], others: Collection[str] = ()) -> list[Sql]:
    """A condition for each filter; `others` are lower-cased names that are no filters. Names are case-insensitive.

    Raises UnknownQueryField, and InvalidQueryValues with all values that cannot be read.
    """
    known = {field.name.lower(): field for field in fields}
    found: list[Sql] = []
    invalid: list[InvalidQueryValue] = []
    for key, (name, text) in last_values(query).items():
        if key in _PAGING or key in others:
            continue
        field = known.get(key)
        if field is None:
            raise UnknownQueryField(name)
        if _is_value(field.type, text):
            parameter = f"filter_{len(found)}"
            found.append(Sql(f"{field.value} = %({parameter})s::{field.type}", {parameter: _read(field.type, text)}))
        else:
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


def _is_value(type_: str, text: str) -> bool:
    if "\0" in text:
        return False
    if type_ == "uuid":
        return _UUID.fullmatch(text) is not None
    if type_ == "bigint":
        return re.fullmatch(r"-?[0-9]{1,19}", text) is not None and int(text) in _BIGINT
    return True


def _read(type_: str, text: str) -> object:
    return int(text) if type_ == "bigint" else text


VERSIONS = CHANGE_VERSION_PARAMETERS
