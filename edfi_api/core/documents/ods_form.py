"""Bodies as the ODS/API reads and writes them: what it accepts, what it refuses, and what its answers complete.

Each function is compiled from the schema of a resource. What is stored is the same as without it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from edfi_api.core.documents import violations
from edfi_api.core.documents.coercion import (
    TIMESTAMP_COERCIONS,
    Coercion,
    coerce_date,
    coerce_date_time,
    coerce_number,
    coerce_time,
    compile_coercion,
)
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.json_text import MOST_DIGITS
from edfi_api.core.documents.paths import Path, as_text, concrete, values_at
from edfi_api.core.documents.validation import BodyValidator, decimal_places, largest_of
from edfi_api.core.documents.violations import Leniency, Violation
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import ALL_ITEMS, DecimalLimit, JsonPath, Resource

Change = Callable[[Any], Any]
Completion = Callable[[dict[str, Any]], None]

# What the frameworks of the ODS/API take for markup: `<` and a letter or one of these, `&#`.
_AFTER_LESS_THAN = frozenset("!/?")
_EXACT = Context(prec=2 * MOST_DIGITS)
_FIRST_DAY = "0001-01-01"
_EXACT_IN_A_DOUBLE = 2**53
_DIGITS_ALONE = re.compile(r"\s*\d{8}", re.ASCII)
_FRACTION_OR_HALF = re.compile(r"[.,]\d|[AP]\.?M", re.ASCII | re.IGNORECASE)


def compile_ods_coercion(schema: Mapping[str, Any]) -> Coercion:
    """Return a coercion as `compile_coercion` does. Besides, numbers and booleans become the texts of members that are
    texts, and empty collections count as absent at every depth, since answers have them. An empty object in a list is
    one that lacks its members. Of dates and times fewer forms are read."""
    coerce = compile_coercion(dict(schema), _is_empty, _TIMESTAMPS)
    change = _change(schema)

    def coerce_body(body: Any, leniency: Leniency) -> Any:
        coerced = coerce(body, leniency)
        return coerced if change is None else change(coerced)

    return coerce_body


def _coerce_date(value: Any, leniency: Leniency | None = None) -> Any:
    """A date is not of digits alone, and its time, if it has one, is midnight of UTC: of another time something would
    be lost."""
    day = coerce_date(value)
    if day is value or _DIGITS_ALONE.match(value) or coerce_date_time(value) != f"{day}T00:00:00Z":
        return value
    return coerce_date(value, leniency)


def _coerce_time(value: Any, leniency: Leniency | None = None) -> Any:
    """A time has no fractions of a second, and no AM or PM."""
    is_read = isinstance(value, str) and not _FRACTION_OR_HALF.search(value)
    return coerce_time(value, leniency) if is_read else value


_TIMESTAMPS = {**TIMESTAMP_COERCIONS, "date": _coerce_date, "time": _coerce_time}


def _is_empty(items: list[Any]) -> bool:
    return not items


def _change(schema: Mapping[str, Any]) -> Change | None:
    """The change of a value of this schema; None if nothing of it changes."""
    match schema.get("type"):
        case "string" if "format" not in schema:
            return _as_text
        case "array":
            item = _change(schema["items"])
            return None if item is None else lambda value: _change_items(value, item)
        case "object":
            members = {name: _change(member) for name, member in schema.get("properties", {}).items()}
            changed = {name: change for name, change in members.items() if change is not None}
            return lambda value: _change_members(value, changed)
    return None


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float | Decimal) else value


def _change_items(value: Any, item: Change) -> Any:
    return [item(child) for child in value] if isinstance(value, list) else value


def _change_members(value: Any, changes: Mapping[str, Change]) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: changes[name](child) if name in changes else child for name, child in value.items() if child != []}


class OdsBodyValidator(BodyValidator):
    """A validator that also refuses what the ODS/API refuses besides: markup in texts, numbers below the least of the
    model, 0 in a key, and the first day of the calendar, which it has for a date that is absent.
    """

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource)
        schema = resource.json_schema
        members = schema.get("properties", {})
        keys = {path.steps[0] for path in resource.identity if len(path.steps) == 1}
        self._numbers = [name for name in keys if members.get(name, {}).get("type") == "integer"]
        dates = (name for name in schema.get("required", ()) if members.get(name, {}).get("format") == "date")
        self._dates = list(dates)

        keys_first = (
            sorted(ends, key=lambda end: (end not in resource.identity, str(end))) for ends, _ in self._equalities
        )
        self._ordered = [(first.steps, second.steps) for first, second in keys_first]

    def _check_equalities(self, body: dict[str, Any]) -> Iterator[Violation]:
        """Values that contradict each other are reported at both places, that of a key first; if one of them is in a
        collection, at each item that contradicts the other."""
        for first, second in self._ordered:
            found = [value for steps in (first, second) for _, value in values_at(body, steps)]
            values = list(dict.fromkeys(found))
            if len(values) > 1:
                yield from _at_items(body, first, second) or _at_both(first, second, values)

    def validate_schema(self, body: dict[str, Any], *, drops_empty_texts: bool = False) -> None:
        """Do what `BodyValidator.validate_schema` does; what is refused besides is reported with the violations of the
        schema.
        """
        found = violations.as_many_as_reported(self._refused(body))
        try:
            super().validate_schema(body, drops_empty_texts=drops_empty_texts)
        except DataValidationFailed as failed:
            raise DataValidationFailed([*failed.violations, *found]) from failed
        if found:
            raise DataValidationFailed(found)

    def _bounds(self, limit: DecimalLimit) -> tuple[Decimal, Decimal]:
        largest = largest_of(limit)
        return (
            -largest if limit.least is None else max(limit.least, -largest),
            largest if limit.most is None else min(limit.most, largest),
        )

    def _check_decimals(self, body: dict[str, Any]) -> Iterator[Violation]:
        """Decimals are rounded to the places that the model gives them, as the columns of the ODS round them."""
        for (*around, name), _, most_places in self._decimals:
            for _, container in values_at(body, tuple(around)):
                if isinstance(container, dict) and name in container:
                    container[name] = _rounded(container[name], most_places)
        return super()._check_decimals(body)

    def _refused(self, body: dict[str, Any]) -> Iterator[Violation]:
        for name in self._numbers:
            if body.get(name) == 0 and not isinstance(body[name], bool):
                yield violations.default_value(f"$.{name}", "0")
        for name in self._dates:
            if body.get(name) == _FIRST_DAY:
                yield violations.default_value(f"$.{name}", _FIRST_DAY)
        yield from _dangerous(body, "$")


def _at_both(first: Path, second: Path, values: list[Any]) -> list[Violation]:
    texts = [as_text(value) for value in values[: violations.MOST_REPORTED]]
    return [violations.unequal_values(str(JsonPath(steps)), texts) for steps in (first, second)]


def _at_items(body: dict[str, Any], first: Path, second: Path) -> list[Violation]:
    """The items that contradict a value above them; none if neither path is that of a single value."""
    above, below = sorted((first, second), key=lambda steps: steps.count(ALL_ITEMS))
    single = values_at(body, above)
    if ALL_ITEMS in above or not single:
        return []
    wanted = single[0][1]
    return [
        violations.unequal_values(concrete(below, indexes), [as_text(wanted), as_text(value)])
        for indexes, value in values_at(body, below)
        if value != wanted and indexes
    ]


def _rounded(value: float | Decimal, places: int) -> Any:
    number = Decimal(str(value))
    if decimal_places(number) <= places:
        return value
    return coerce_number(str(number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT)))


def _dangerous(value: Any, path: str) -> Iterator[Violation]:
    """The texts with markup; descriptors have to exist instead."""
    match value:
        case str():
            if _has_markup(value):
                yield violations.markup(path)
        case dict():
            for name, child in value.items():
                if not is_descriptor_name(name):
                    yield from _dangerous(child, f"{path}.{name}")
        case list():
            for index, child in enumerate(value):
                yield from _dangerous(child, f"{path}[{index}]")


def _has_markup(text: str) -> bool:
    for position, character in enumerate(text[:-1]):
        following = text[position + 1]
        if character == "<" and (following in _AFTER_LESS_THAN or (following.isascii() and following.isalpha())):
            return True
        if character == "&" and following == "#":
            return True
    return False


def compile_completion(schema: Mapping[str, Any]) -> Completion:
    """The function that gives a body, in place, the collections that it does not have, at every depth, and whole
    numbers of decimals their decimal place."""
    complete = _completion(schema)
    return complete or (lambda body: None)


def _completion(schema: Mapping[str, Any]) -> Completion | None:
    members = schema.get("properties", {})
    collections = [name for name, member in members.items() if member.get("type") == "array"]
    decimals = [name for name, member in members.items() if member.get("type") == "number"]
    objects = {
        name: inner
        for name, member in members.items()
        if member.get("type") == "object" and (inner := _completion(member))
    }
    items = {name: inner for name in collections if (inner := _completion(members[name].get("items", {})))}
    if not (collections or decimals or objects):
        return None

    def complete(value: dict[str, Any]) -> None:
        for name, inner in objects.items():
            if name in value:
                inner(value[name])
        for name, inner in items.items():
            for item in value.get(name, ()):
                inner(item)
        for name in collections:
            value.setdefault(name, [])
        for name in decimals:
            if isinstance(value.get(name), int):
                value[name] = _with_decimal_place(value[name])

    return complete


def _with_decimal_place(number: int) -> float | Decimal:
    return float(number) if abs(number) < _EXACT_IN_A_DOUBLE else Decimal(f"{number}.0")
