"""Validates a coerced body against the rules of its resource, and collects all violations by JSON path, up to a limit.

JSON Schema is checked by a validator compiled once per resource; decimals, equality constraints and the uniqueness of
array items by functions that run only on bodies that are valid for the schema.
"""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

from edfi_api.documents import violations
from edfi_api.documents.exceptions import DataValidationFailed
from edfi_api.documents.paths import Path, as_text, concrete, values_at
from edfi_api.documents.schema_violations import SchemaPlace, compile_validator
from edfi_api.documents.violations import MOST_REPORTED, Violation, as_many_as_reported
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    ArrayUniqueness,
    DecimalLimit,
    EqualityConstraint,
    JsonPath,
    Resource,
)

_INTEGER_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


class Validator:
    """The compiled rules of one resource."""

    def __init__(self, resource: Resource) -> None:
        schema = _with_integer_bounds(resource.json_schema)
        self._is_valid = compile_validator(schema).is_valid
        self._root = SchemaPlace(schema)
        self._decimals = [(limit, limit.path.steps) for limit in resource.decimals]
        self._equalities = [(ends, _are_single(ends)) for ends in map(_in_path_order, resource.equality_constraints)]
        self._unique_arrays = [(rule, rule.array.steps) for rule in resource.array_uniqueness]
        # Checks for which the resource has no rules are left out.
        self._checks_of_schema = [self._check_decimals] if self._decimals else []
        if resource.is_descriptor:
            self._checks_of_schema.append(_check_namespace)
        self._checks_of_values = [
            check
            for rules, check in (
                (self._equalities, self._check_equalities),
                (self._unique_arrays, self._check_unique_arrays),
            )
            if rules
        ]

    def validate_schema(self, body: dict[str, Any]) -> None:
        """Raise DataValidationFailed with the violations of the JSON schema, otherwise with those of rules that it
        cannot express: decimals out of range, a descriptor's namespace that contains `#`."""
        if not self._is_valid(body):
            raise DataValidationFailed(as_many_as_reported(self._root.violations(body)))
        _raise_first_kind(body, self._checks_of_schema)

    def validate_values(self, body: dict[str, Any]) -> None:
        """Of a body that is valid for the schema: raise DataValidationFailed for values that must be equal, otherwise
        for array items that must differ."""
        _raise_first_kind(body, self._checks_of_values)

    def _check_decimals(self, body: dict[str, Any]) -> Iterator[Violation]:
        for limit, steps in self._decimals:
            for indexes, value in values_at(body, steps):
                bound = largest_of(limit)
                if abs(Decimal(str(value))) > bound:
                    yield violations.out_of_decimal_range(concrete(steps, indexes), str(bound))

    def _check_equalities(self, body: dict[str, Any]) -> Iterator[Violation]:
        for (first, second), are_single in self._equalities:
            if are_single and (first.steps[0] not in body or second.steps[0] not in body):
                continue  # The common case: one of the values is absent.
            values = _distinct(body, first.steps, second.steps)
            if len(values) > 1:
                texts = [as_text(value) for value in islice(values, MOST_REPORTED)]
                yield violations.unequal_values(str(first), texts)
                yield violations.unequal_values(str(second), texts)

    def _check_unique_arrays(self, body: dict[str, Any]) -> Iterator[Violation]:
        for rule, steps in self._unique_arrays:
            for indexes, items in values_at(body, steps):
                if position := _first_repetition(items, rule):
                    yield violations.duplicate_item(concrete(steps, indexes), position)


def _check_namespace(body: dict[str, Any]) -> Iterator[Violation]:
    """A descriptor is identified by its URI, `namespace#codeValue`. Code values may contain `#`; if namespaces could
    too, two descriptors would have the same URI."""
    if "#" in body["namespace"]:
        yield violations.number_sign("$.namespace")


def _raise_first_kind(body: dict[str, Any], checks: Iterable[Callable[[dict[str, Any]], Iterator[Violation]]]) -> None:
    for check in checks:
        if found := as_many_as_reported(check(body)):
            raise DataValidationFailed(found)


def _with_integer_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the bounds of `format: int32` and `int64` as keywords, since JSON Schema does not check them."""
    copy = dict(schema)
    if "properties" in schema:
        copy["properties"] = {name: _with_integer_bounds(member) for name, member in schema["properties"].items()}
    if "items" in schema:
        copy["items"] = _with_integer_bounds(schema["items"])
    if schema.get("type") == "integer" and schema.get("format") in _INTEGER_BOUNDS:
        lowest, highest = _INTEGER_BOUNDS[schema["format"]]
        copy.setdefault("minimum", lowest)
        copy.setdefault("maximum", highest)
    return copy


def largest_of(limit: DecimalLimit) -> Decimal:
    """The largest number of a precision and scale: 999.99 for five digits of which two are decimal places."""
    return (Decimal(10) ** limit.total_digits - 1).scaleb(-limit.decimal_places)


def _in_path_order(rule: EqualityConstraint) -> tuple[JsonPath, JsonPath]:
    """Both paths in alphabetical order, in which Ed-Fi's servers list conflicting values."""
    first, second = sorted((rule.source, rule.target), key=str)
    return first, second


def _are_single(ends: tuple[JsonPath, JsonPath]) -> bool:
    """Whether each path has at most one value."""
    return all(ALL_ITEMS not in path.steps for path in ends)


def _distinct(body: dict[str, Any], *paths: Path) -> list[Any]:
    """The scalar values at these paths, each once, in order of appearance."""
    return list(dict.fromkeys([value for path in paths for _, value in values_at(body, path)]))


def _first_repetition(items: list[Any], rule: ArrayUniqueness) -> int | None:
    """The position, from 1, of the first item with the identifying values of an earlier one."""
    seen = set()
    for position, item in enumerate(items, start=1):
        key = tuple(_identifying_value(item, path.steps) for path in rule.item_paths)
        if all(value is None for value in key):
            continue
        if key in seen:
            return position
        seen.add(key)
    return None


def _identifying_value(item: Any, steps: Path) -> Any:
    found = values_at(item, steps)
    value = found[0][1] if found else None
    # Descriptors compare case-insensitively.
    return value.lower() if isinstance(value, str) and is_descriptor_name(steps[-1]) else value
