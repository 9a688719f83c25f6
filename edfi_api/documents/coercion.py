"""Body as sent → body as stored: drops unknown members and nulls, and converts values to the form of their type.

Compiled once per resource from its JSON schema into a tree of functions. Values that cannot be converted are left as
they are; validation reports them. What strict handling would refuse is only noted, at no cost for other bodies:
`tolerated` finds the paths. See meadowlark/docs/reference/contract.md#bodies.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from edfi_api.documents.json_text import as_integer
from edfi_api.documents.leniency import Leniency
from edfi_api.model.surface.naming import EXTENSIONS, REFERENCE_SUFFIX

Coercion = Callable[[Any, Leniency], Any]

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR_FIRST = re.compile(r"\A(\d{4})([-/])(\d{2})\2(\d{2})", re.ASCII)
_YEAR_LAST = re.compile(
    r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d{2})"
    r"( (?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2}))?( (?P<half>[AP])M)?)?",
    re.ASCII | re.IGNORECASE,
)
_STORED_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
_STORED_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d")
# Two-digit years as in POSIX.
_FIRST_YEAR_OF_1900S = 69
_LONGEST_MOMENT = len("2026-01-05T08:15:00.123456789+00:00:00.000000")
_TIME_WITH_FRACTION = re.compile(r"(\d{2}:\d{2}:\d{2})\.\d+")
_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,2})?", re.ASCII)
_DIGITS_OF_A_DOUBLE = 15
_TRIMMED_IN_DESCRIPTORS = ("codeValue", "shortDescription")
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}
# Members that the API adds to what it returns, so that a document can be sent back as it was read.
_ADDED_TO_DOCUMENTS = frozenset({"id", "_etag", "_lastModifiedDate"})
_ADDED_TO_REFERENCES = frozenset({"link"})
_NONE: frozenset[str] = frozenset()


def compile_coercion(schema: dict[str, Any], counts_as_absent: Callable[[list[Any]], bool] | None = None) -> Coercion:
    """The function that converts a whole body of this schema; it does not modify its argument. `counts_as_absent` says
    which arrays at the root do: those without items, or with empty objects only, if it is not given."""
    is_absent = counts_as_absent or _is_empty
    coerce_object = _object_coercion(schema, _ADDED_TO_DOCUMENTS)

    def coerce_body(body: Any, leniency: Leniency) -> Any:
        coerced = coerce_object(body, leniency)
        return {name: value for name, value in coerced.items() if type(value) is not list or not is_absent(value)}

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
    """Whether an array at the root counts as absent: `[]`, `[{}]`."""
    return not any(item != {} for item in items)


@dataclass(frozen=True, slots=True)
class _Members:
    """The members of an object: those that the schema has, with their coercions; and all that may be dropped without
    notice."""

    known: dict[str, Coercion | None]
    unnoticed: frozenset[str]


def _members(schema: dict[str, Any], added: frozenset[str]) -> _Members:
    known = {name: _coercion(member, added_members(name)) for name, member in schema.get("properties", {}).items()}
    return _Members(known, added.union(known))


def _coerce_object(value: dict[str, Any], members: _Members, leniency: Leniency) -> dict[str, Any]:
    coerced = {}
    known = members.known
    for name, child in value.items():
        if child is not None and name in known:
            coercion = known[name]
            coerced[name] = child if coercion is None else coercion(child, leniency)
        elif name not in members.unnoticed:
            leniency.is_used = True
    return coerced


def _coercion(schema: dict[str, Any], added: frozenset[str]) -> Coercion | None:
    match schema.get("type"):
        case "object":
            return _object_coercion(schema, added)
        case "array":
            return _array_coercion(schema)
        case "string":
            return _STRING_COERCIONS.get(schema.get("format", ""))
        case scalar:
            return _SCALAR_COERCIONS.get(scalar)


def _object_coercion(schema: dict[str, Any], added: frozenset[str]) -> Coercion:
    members = _members(schema, added)
    if EXTENSIONS in members.known:
        return lambda value, leniency: (
            _coerce_extended_object(value, members, leniency) if isinstance(value, dict) else value
        )
    return lambda value, leniency: _coerce_object(value, members, leniency) if isinstance(value, dict) else value


def _coerce_extended_object(value: dict[str, Any], members: _Members, leniency: Leniency) -> dict[str, Any]:
    """Drops empty projects below `_ext`, and `_ext` itself if no project is left."""
    coerced = _coerce_object(value, members, leniency)
    extensions = coerced.get(EXTENSIONS)
    if isinstance(extensions, dict):
        coerced[EXTENSIONS] = {project: added for project, added in extensions.items() if added != {}}
        if not coerced[EXTENSIONS]:
            del coerced[EXTENSIONS]
    return coerced


def _array_coercion(schema: dict[str, Any]) -> Coercion:
    item = _coercion(schema["items"], _NONE)
    if item is None:
        return lambda value, _: value
    return lambda value, leniency: [item(child, leniency) for child in value] if isinstance(value, list) else value


def coerce_boolean(value: Any, _: Leniency | None = None) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _BOOLEANS.get(value.lower(), value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    return value


def coerce_integer(value: Any, _: Leniency | None = None) -> Any:
    if isinstance(value, str):
        value = coerce_number(value)
    if isinstance(value, float | Decimal) and _is_whole(Decimal(value)):
        return as_integer(value)
    return value


def coerce_number(value: Any, _: Leniency | None = None) -> Any:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return value
    number = Decimal(value)
    if _is_whole(number):
        return as_integer(number)
    # A double holds fifteen digits; longer numbers stay exact.
    return float(number) if len(number.as_tuple().digits) <= _DIGITS_OF_A_DOUBLE else number


def _is_whole(number: Decimal) -> bool:
    """Not computed with `%`, which raises for a Decimal with more digits than its context has."""
    return number == number.to_integral_value()


def coerce_date(value: Any, leniency: Leniency | None = None) -> Any:
    if not isinstance(value, str) or _ISO_DATE.fullmatch(value):
        return value
    moment = _noted(_moment(value), value, leniency)
    return moment.date().isoformat() if moment else value


def coerce_date_time(value: Any, leniency: Leniency | None = None) -> Any:
    if not isinstance(value, str) or _STORED_DATE_TIME.fullmatch(value):
        return value
    moment = _noted(_moment(value), value, leniency)
    return stored_date_time(moment) if moment else value


def stored_date_time(moment: datetime) -> str:
    """`2026-01-05T08:15:00Z`: UTC in whole seconds; values without a zone are taken as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:  # the first and last hours that datetime can represent may have no UTC form
        moment = moment.replace(tzinfo=UTC)
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%SZ}"


def coerce_time(value: Any, _: Leniency | None = None) -> Any:
    if isinstance(value, str) and (with_fraction := _TIME_WITH_FRACTION.fullmatch(value)):
        return with_fraction[1]
    return value


def _noted(moment: datetime | None, text: str, leniency: Leniency | None) -> datetime | None:
    if moment is not None and leniency is not None and is_ambiguous_date(text):
        leniency.is_used = True
    return moment


def is_ambiguous_date(text: str) -> bool:
    """Whether month and day of a date could change places, `8/9/2025`, or its century is a guess, `8/20/25`."""
    if len(text) > _LONGEST_MOMENT or not (match := _YEAR_LAST.fullmatch(text)):
        return False
    month, day = int(match["month"]), int(match["day"])
    return len(match["year"]) == 2 or (month != day and month <= 12 and day <= 12)


def _moment(text: str) -> datetime | None:
    """A date, with or without a time, in any accepted form; None for other texts."""
    if len(text) > _LONGEST_MOMENT:
        return None
    iso, year_last = _YEAR_FIRST.sub(r"\1-\3-\4", text), _YEAR_FIRST.sub(r"\3/\4/\1", text)
    return _parse_iso(iso) or _parse_year_last(year_last)


def _parse_iso(value: str) -> datetime | None:
    if not _ISO_DATE.match(value):  # Python also reads `20260105`, and any number of digits behind it.
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


def _parse_year_last(text: str) -> datetime | None:
    """`8/20/2025`, `20/8/2025`, `08/20/25`, `8/20/2025 10:15 PM`.

    `strptime` would have to try one format after another and caches only five of them: a document full of invalid dates
    would take seconds.
    """
    match = _YEAR_LAST.fullmatch(text)
    if match is None:
        return None
    month, day, year, hour, minute, second = (
        int(match[name] or 0) for name in ("month", "day", "year", "hour", "minute", "second")
    )
    if len(match["year"]) == 2:
        year += 1900 if year >= _FIRST_YEAR_OF_1900S else 2000
    elif month > 12:
        month, day = day, month
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"] in "Pp" else 0)
    try:
        return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001  the zone is decided by the caller
    except ValueError:
        return None


def is_date(text: str) -> bool:
    """Whether this is a valid date in its stored form, `2026-01-05`."""
    return bool(_ISO_DATE.fullmatch(text)) and _parse_iso(text) is not None


def is_date_time(text: str) -> bool:
    """Whether this is a valid date-time in its stored form, `2026-01-05T08:15:00Z`."""
    return bool(_STORED_DATE_TIME.fullmatch(text)) and _parse_iso(text) is not None


def is_time(text: str) -> bool:
    """Whether this is a time of day in its stored form, `08:15:00`."""
    return bool(_STORED_TIME.fullmatch(text))


_SCALAR_COERCIONS: dict[str | None, Coercion] = {
    "integer": coerce_integer,
    "number": coerce_number,
    "boolean": coerce_boolean,
}
_STRING_COERCIONS: dict[str, Coercion] = {
    "date": coerce_date,
    "date-time": coerce_date_time,
    "time": coerce_time,
}
