"""Validates a coerced body against the rules of its resource, and collects all violations by JSON path, up to a limit.

JSON Schema is checked by a validator compiled once per resource; decimals, equality constraints and the uniqueness of
array items by functions that run only on bodies that are valid for the schema.
"""

from collections.abc import Callable, Iterable, Iterator
from decimal import Context, Decimal
from itertools import islice
from typing import Any

from edfi_api.core.documents import violations
from edfi_api.core.documents.checked_schema import checked_schema, drop_empty_texts, require_item_keys
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.limits import MOST_DIGITS
from edfi_api.core.documents.paths import Path, as_text, concrete, identifying_value, values_at
from edfi_api.core.documents.schema_violations import SchemaPlace, compile_validator
from edfi_api.core.documents.violations import MOST_REPORTED, Violation, as_many_as_reported
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    ArrayUniqueness,
    DecimalLimit,
    EqualityConstraint,
    JsonPath,
    Resource,
)

_EXACT = Context(prec=MOST_DIGITS)


class Validator:
    """The compiled rules of one resource."""

    def __init__(self, resource: Resource) -> None:
        self._schema = schema = checked_schema(resource.json_schema)
        require_item_keys(schema, resource.array_uniqueness)
        self._is_valid = compile_validator(schema).is_valid
        self._root = SchemaPlace(schema)
        self._decimals = [(each.path.steps, self._bounds(each), each.decimal_places) for each in resource.decimals]
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

    def validate_schema(self, body: dict[str, Any], *, drops_empty_texts: bool = False) -> None:
        """Raise DataValidationFailed with the violations of the JSON schema, otherwise with those of rules that it
        cannot express: decimals out of range, a descriptor's namespace that contains `#`.

        With `drops_empty_texts`, optional texts that show nothing are removed from the body first.
        """
        is_valid = self._is_valid(body)
        if not is_valid and drops_empty_texts:
            drop_empty_texts(body, self._schema)
            is_valid = self._is_valid(body)
        if not is_valid:
            raise DataValidationFailed(as_many_as_reported(self._root.violations(body)))
        _raise_first_kind(body, self._checks_of_schema)

    def validate_values(self, body: dict[str, Any]) -> None:
        """Raise DataValidationFailed, for a body that is valid for the schema, about values that must be equal,
        otherwise for array items that must differ.
        """
        _raise_first_kind(body, self._checks_of_values)

    def _bounds(self, limit: DecimalLimit) -> tuple[Decimal, Decimal]:
        """The least and the largest number."""
        largest = largest_of(limit)
        return -largest, largest

    def _check_decimals(self, body: dict[str, Any]) -> Iterator[Violation]:
        for steps, (least, most), most_places in self._decimals:
            for indexes, value in values_at(body, steps):
                number = Decimal(str(value))
                if not least <= number <= most:
                    yield violations.out_of_decimal_range(concrete(steps, indexes), str(most), str(least))
                elif decimal_places(number) > most_places:
                    yield violations.too_many_decimal_places(concrete(steps, indexes), most_places)

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


def decimal_places(number: Decimal) -> int:
    """The places behind the point, without zeros at the end: 1 of `1.50`."""
    exponent = number.normalize(_EXACT).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def largest_of(limit: DecimalLimit) -> Decimal:
    """The largest number of a precision and scale: 999.99 for five digits of which two are decimal places."""
    return (Decimal(10) ** limit.total_digits - 1).scaleb(-limit.decimal_places)


def _in_path_order(rule: EqualityConstraint) -> tuple[JsonPath, JsonPath]:
    """Return both paths in alphabetical order, in which Ed-Fi's servers list conflicting values."""
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
        key = tuple(identifying_value(item, path.steps) for path in rule.item_paths)
        if all(value is None for value in key):
            continue
        if key in seen:
            return position
        seen.add(key)
    return None
