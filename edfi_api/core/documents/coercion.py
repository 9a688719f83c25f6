"""Body as sent → body as stored: drops unknown members and nulls, and converts values to the form of their type.

Compiled once per resource from its JSON schema into a tree of functions. Values that cannot be converted are left as
they are; validation reports them. What strict handling would refuse is only noted, at no cost for other bodies:
`body_reader` finds the paths. See meadowlark/docs/reference/contract.md#bodies.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from edfi_api.core.documents import dates_and_times
from edfi_api.core.documents.blanks import without_blanks
from edfi_api.core.documents.json_text import as_integer
from edfi_api.core.documents.violations import Leniency, Reason
from edfi_api.model.surface.naming import EXTENSIONS, REFERENCE_SUFFIX, is_descriptor_name

Coercion = Callable[[Any, Leniency], Any]

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_STORED_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
_STORED_TIME = re.compile(r"\d{2}:\d{2}:\d{2}")
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?", re.ASCII)
_DIGITS_OF_A_DOUBLE = 15
_TRIMMED_IN_DESCRIPTORS = ("codeValue", "shortDescription")
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
# Members that the API adds to what it returns, so that a document can be sent back as it was read.
_ADDED_TO_DOCUMENTS = frozenset({"id", "_etag", "_lastModifiedDate"})
_ADDED_TO_REFERENCES = frozenset({"link"})
_NONE: frozenset[str] = frozenset()


def compile_coercion(
    schema: dict[str, Any],
    counts_as_absent: Callable[[list[Any]], bool] | None = None,
    timestamps: Mapping[str, Coercion] | None = None,
) -> Coercion:
    """Return the function that converts a whole body of this schema; it does not modify its argument.

    `counts_as_absent` says which arrays at the root do: those without items, or with empty objects only, if it is not
    given. `timestamps` are the coercions of dates and times, by their formats; `TIMESTAMP_COERCIONS` if they are not
    given.
    """
    is_absent = counts_as_absent or _is_empty
    coerce_object = _object_coercion(schema, _ADDED_TO_DOCUMENTS, timestamps or TIMESTAMP_COERCIONS)

    def coerce_body(body: Any, leniency: Leniency) -> Any:
        coerced = coerce_object(body, leniency)
        for value in coerced.values():
            if type(value) is list and is_absent(value):
                return {name: each for name, each in coerced.items() if type(each) is not list or not is_absent(each)}
        return coerced

    return coerce_body


def added_members(name: str | None) -> frozenset[str]:
    """The members that the API adds to the object in the member of this name; to the document itself if None."""
    if name is None:
        return _ADDED_TO_DOCUMENTS
    return _ADDED_TO_REFERENCES if name.endswith(REFERENCE_SUFFIX) else _NONE


def trim_descriptor(body: dict[str, Any]) -> dict[str, Any]:
    """Strips whitespace around code value and short description (meadowlark/docs/reference/contract.md#descriptors)."""
    trimmed = {name: body[name].strip() for name in _TRIMMED_IN_DESCRIPTORS if isinstance(body.get(name), str)}
    return body | trimmed


def _is_empty(items: list[Any]) -> bool:
    """Return whether an array at the root counts as absent: `[]`, `[{}]`."""
    return not any(item != {} for item in items)


def _member_coercion(name: str, schema: dict[str, Any], timestamps: Mapping[str, Coercion]) -> Coercion | None:
    if is_descriptor_name(name) and schema.get("type") == "string" and "format" not in schema:
        return trim_text
    return _coercion(schema, added_members(name), timestamps)


def _coercion(schema: dict[str, Any], added: frozenset[str], timestamps: Mapping[str, Coercion]) -> Coercion | None:
    match schema.get("type"):
        case "object":
            return _object_coercion(schema, added, timestamps)
        case "array":
            return _array_coercion(schema, timestamps)
        case "string":
            return timestamps.get(schema.get("format", ""))
        case scalar:
            return _SCALAR_COERCIONS.get(scalar)


def _object_coercion(schema: dict[str, Any], added: frozenset[str], timestamps: Mapping[str, Coercion]) -> Coercion:
    known = {name: _member_coercion(name, member, timestamps) for name, member in schema.get("properties", {}).items()}
    unnoticed = added.union(known)

    def coerce_object(value: Any, leniency: Leniency) -> Any:
        if not isinstance(value, dict):
            return value
        coerced = {}
        for name, child in value.items():
            if child is not None and name in known:
                coercion = known[name]
                coerced[name] = child if coercion is None else coercion(child, leniency)
            elif name not in unnoticed:
                leniency.is_used = True
        return coerced

    return _without_empty_extensions(coerce_object) if EXTENSIONS in known else coerce_object


def _without_empty_extensions(coerce_object: Coercion) -> Coercion:
    """Drops empty projects below `_ext`, and `_ext` itself if no project is left."""

    def coerce_extended_object(value: Any, leniency: Leniency) -> Any:
        coerced = coerce_object(value, leniency)
        extensions = coerced.get(EXTENSIONS) if isinstance(coerced, dict) else None
        if isinstance(extensions, dict):
            coerced[EXTENSIONS] = {project: added for project, added in extensions.items() if added != {}}
            if not coerced[EXTENSIONS]:
                del coerced[EXTENSIONS]
        return coerced

    return coerce_extended_object


def _array_coercion(schema: dict[str, Any], timestamps: Mapping[str, Coercion]) -> Coercion:
    item = _coercion(schema["items"], _NONE, timestamps)
    if item is None:
        return lambda value, _: value
    return lambda value, leniency: [item(child, leniency) for child in value] if isinstance(value, list) else value


def coerce_boolean(value: Any, leniency: Leniency | None = None) -> Any:
    if value is True or value is False:
        return value
    if isinstance(value, str):
        return _BOOLEANS.get(trim_text(value, leniency).lower(), value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    return value


def coerce_integer(value: Any, leniency: Leniency | None = None) -> Any:
    if type(value) is int:
        return value
    if isinstance(value, str):
        value = coerce_number(value, leniency)
    if isinstance(value, float | Decimal) and _is_whole(Decimal(value)):
        return as_integer(value)
    return value


def coerce_number(value: Any, leniency: Leniency | None = None) -> Any:
    if not isinstance(value, str) or not _NUMBER.fullmatch(text := trim_text(value, leniency)):
        return value
    number = Decimal(text)
    if _is_whole(number):
        return as_integer(number)
    # A double holds fifteen digits; longer numbers stay exact.
    return float(number) if len(number.as_tuple().digits) <= _DIGITS_OF_A_DOUBLE else number


def _is_whole(number: Decimal) -> bool:
    """Return whether the number has no fraction. This is not computed with `%`, which raises for a Decimal with more
    digits than its context has.
    """
    return number == number.to_integral_value()


def coerce_date(value: Any, leniency: Leniency | None = None) -> Any:
    if not isinstance(value, str) or _ISO_DATE.fullmatch(value):
        return value
    return _as_read(dates_and_times.read_date(value), value, leniency)


def coerce_date_time(value: Any, leniency: Leniency | None = None) -> Any:
    if not isinstance(value, str) or _STORED_DATE_TIME.fullmatch(value):
        return value
    return _as_read(dates_and_times.read_date_time(value), value, leniency)


def coerce_time(value: Any, leniency: Leniency | None = None) -> Any:
    if not isinstance(value, str) or _STORED_TIME.fullmatch(value):
        return value
    return _as_read(dates_and_times.read_time(value), value, leniency)


def trim_text(value: Any, leniency: Leniency | None = None) -> Any:
    """A text without blanks around it. Of a descriptor only that URI can be meant: code values have no such blanks."""
    if not isinstance(value, str):
        return value
    trimmed = without_blanks(value)
    if trimmed is not value and leniency is not None:
        leniency.is_used = True
    return trimmed


def _as_read(reading: dates_and_times.ReadTimestamp | None, value: str, leniency: Leniency | None) -> str:
    if reading is None:
        return value
    if reading.reason is not None and leniency is not None:
        leniency.is_used = True
    return reading.stored


def reason_of(value: str, schema: dict[str, Any], name: str) -> Reason | None:
    """Return why strict handling refuses a text that is the value of a member with this schema and name; None if it
    does not."""
    match schema.get("type"):
        case "string":
            return _reason_of_text(value, schema.get("format", ""), name)
        case "integer" | "number" | "boolean":
            return None if without_blanks(value) is value else Reason.OTHER_FORM
    return None


def _reason_of_text(value: str, format_: str, name: str) -> Reason | None:
    if read := _TIMESTAMPS.get(format_):
        reading = read(value)
        return None if reading is None else reading.reason
    return Reason.OTHER_FORM if is_descriptor_name(name) and without_blanks(value) is not value else None


_TIMESTAMPS = {
    "date": dates_and_times.read_date,
    "date-time": dates_and_times.read_date_time,
    "time": dates_and_times.read_time,
}
_SCALAR_COERCIONS: dict[str | None, Coercion] = {
    "integer": coerce_integer,
    "number": coerce_number,
    "boolean": coerce_boolean,
}
TIMESTAMP_COERCIONS: Mapping[str, Coercion] = {
    "date": coerce_date,
    "date-time": coerce_date_time,
    "time": coerce_time,
}
