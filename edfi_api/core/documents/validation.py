"""Validates a coerced body against the rules of its resource, and collects all violations by JSON path, up to a limit.

JSON Schema is checked by a validator compiled once per resource; decimals, equality constraints and the uniqueness of
array items by functions that run only on bodies that are valid for the schema.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Set
from decimal import Context, Decimal
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple

from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from edfi_api.core.documents import violations
from edfi_api.core.documents.blanks import VISIBLE, shows_nothing
from edfi_api.core.documents.dates_and_times import is_date, is_date_time, is_time
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.json_text import MOST_DIGITS
from edfi_api.core.documents.paths import Path, as_text, concrete, identifying_value, values_at
from edfi_api.core.documents.violations import MOST_REPORTED, Violation, as_many_as_reported
from edfi_api.model.surface.json_schema import NOT_ONLY_BLANKS, find_schema
from edfi_api.model.surface.naming import EXTENSIONS, is_descriptor_name
from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    ArrayUniqueness,
    DecimalLimit,
    EqualityConstraint,
    JsonPath,
    Resource,
)

# The library computes its list of errors completely, and each error has a copy of the offending value: a megabyte of
# invalid items takes gigabytes of memory. So each node of the schema is checked by the library on its own, and only
# the traversal of objects and arrays is implemented here.

# Keywords that do not constrain the node itself: they apply to its children or are annotations. Members that a schema
# does not define are dropped before validation.
_NOT_CONSTRAINTS = ("properties", "items", "additionalProperties", "title", "description", "deprecated", "$schema")
_JSON_TYPES: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    Decimal: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}
# Size of the cache of compiled nodes.
_MOST_COMPILED = 4096


def _compile_validator(schema: dict[str, Any]) -> Draft202012Validator:
    """The validator of a schema with Ed-Fi's formats: times have no zone, unlike those of JSON Schema."""
    return Draft202012Validator(
        schema,
        validate_formats=True,
        formats={"date": is_date, "date-time": is_date_time, "time": is_time},
        mask="The value",  # Otherwise the library's messages repeat values of any length.
    )


class SchemaPlace:
    """One node of a schema; its children are created at first use."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._members: dict[str, SchemaPlace | None] = {}

    def violations(self, value: Any, path: str = "$") -> Iterator[Violation]:
        """The violations of the value itself, then those of its members or items in body order."""
        yield from _violations(self._validator.iter_errors(self._without_content(value)), path)
        if isinstance(value, dict):
            for name, child in value.items():
                if member := self._member(name):
                    yield from member.violations(child, f"{path}.{name}")
        elif isinstance(value, list) and self._item:
            for index, child in enumerate(value):
                yield from self._item.violations(child, f"{path}[{index}]")

    @cached_property
    def _validator(self) -> Draft202012Validator:
        own = {keyword: value for keyword, value in self._schema.items() if keyword not in _NOT_CONSTRAINTS}
        return _compiled(json.dumps(own, sort_keys=True))

    @cached_property
    def _item(self) -> "SchemaPlace | None":
        return SchemaPlace(self._schema["items"]) if "items" in self._schema else None

    def _member(self, name: str) -> "SchemaPlace | None":
        if name not in self._members:
            schema = self._schema.get("properties", {}).get(name)
            self._members[name] = None if schema is None else SchemaPlace(schema)
        return self._members[name]

    def _without_content(self, value: Any) -> Any:
        """The value reduced to what the keywords of this node check: member names, or the number of items."""
        if isinstance(value, dict):
            return dict.fromkeys(value)
        if isinstance(value, list) and "uniqueItems" not in self._schema:
            return [None] * len(value)
        return value


@lru_cache(maxsize=_MOST_COMPILED)
def _compiled(schema: str) -> Draft202012Validator:
    return _compile_validator(json.loads(schema))


def _violations(errors: Iterator[ValidationError], path: str) -> list[Violation]:
    """An empty required text is reported once, not for its length as well."""
    found = list(errors)
    is_empty = any(error.kind.name == "pattern" and not error.instance for error in found)
    reported = (_violation(error, path) for error in found if not is_empty or error.kind.name != "minLength")
    return list(dict.fromkeys(reported))


def _violation(error: ValidationError, path: str) -> Violation:
    kind = error.kind
    if isinstance(kind, ValidationErrorKind.Required):
        return violations.required(f"{path}.{kind.property}")
    if word := _WORDING.get(kind.name):
        return word(path, kind, error.instance)
    return violations.unknown_rule(path, error.message)


def _pattern(path: str, _: Any, value: Any) -> Violation:
    """Blanks alone are blanks at both ends, as Ed-Fi's servers say."""
    is_empty = shows_nothing(value) and (not value or not value.isspace())
    return violations.left_empty(path) if is_empty else violations.outer_whitespace(path, value)


def _type(path: str, kind: Any, value: Any) -> Violation:
    return violations.wrong_type(path, _JSON_TYPES.get(type(value), "unknown"), kind.types[0])


def _min_items(path: str, kind: Any, value: list[Any]) -> Violation:
    return violations.too_few_items(path, kind.limit) if value else violations.required(path)


_WORDING: dict[str, Callable[[str, Any, Any], Violation]] = {
    "pattern": _pattern,
    "type": _type,
    "minLength": lambda path, kind, _: violations.too_short(path, kind.limit),
    "maxLength": lambda path, kind, _: violations.too_long(path, kind.limit),
    "minimum": lambda path, kind, _: violations.below_minimum(path, kind.limit),
    "maximum": lambda path, kind, _: violations.above_maximum(path, kind.limit),
    "format": lambda path, kind, _: violations.wrong_format(path, kind.format),
    "minItems": _min_items,
}


# JSON Schema does not check the bounds of `format: int32` and `int64`, and to the published patterns of texts a
# character without width is one like others.

Schema = dict[str, Any]

_INTEGER_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def _checked_schema(schema: Schema, name: str = "") -> Schema:
    """A copy with the bounds of integers as keywords, and with patterns by which every text shows something."""
    copy = dict(schema)
    if "properties" in schema:
        copy["properties"] = {each: _checked_schema(member, each) for each, member in schema["properties"].items()}
    if "items" in schema:
        copy["items"] = _checked_schema(schema["items"], name)
    if schema.get("type") == "integer" and schema.get("format") in _INTEGER_BOUNDS:
        lowest, highest = _INTEGER_BOUNDS[schema["format"]]
        copy.setdefault("minimum", lowest)
        copy.setdefault("maximum", highest)
    if _is_text(schema, name):
        if schema.get("pattern") in (None, NOT_ONLY_BLANKS):
            copy["pattern"] = VISIBLE
        else:
            copy["allOf"] = [{"pattern": f"^$|{VISIBLE}"}]  # The other rules refuse an empty text.
    return copy


def _require_item_keys(schema: Schema, rules: Iterable[ArrayUniqueness]) -> None:
    """Make the members by which items of arrays differ required in a checked schema, as far as it has them.

    Ed-Fi's compiler makes those below an optional inline common optional; its tables do not accept them.
    """
    for rule in rules:
        for path in rule.item_paths:
            _require(schema, (*rule.array.steps, ALL_ITEMS), path.steps)


def _require(schema: Schema, around: Iterable[str], steps: Iterable[str]) -> None:
    """The members at the steps, each in the one before it, in the items that are at `around`."""
    found = find_schema(schema, around)
    for name in steps:
        if found is None or name not in found.get("properties", {}):
            return
        found["required"] = sorted({*found.get("required", ()), name})
        found = found["properties"][name]


def _is_text(schema: Schema, name: str) -> bool:
    """Return whether values are text of any content: no dates, and no URIs of descriptors."""
    return schema.get("type") == "string" and "format" not in schema and not is_descriptor_name(name)


def _drop_empty_texts(body: Any, schema: Schema) -> None:
    """Remove optional texts that show nothing from a coerced body, since they count as absent, and what has become
    empty below `_ext`.

    Runs only for bodies that are not valid.
    """
    if isinstance(body, list):
        for item in body:
            _drop_empty_texts(item, schema.get("items", {}))
    if not isinstance(body, dict):
        return
    required = schema.get("required", ())
    for name, value in list(body.items()):
        member = schema.get("properties", {}).get(name, {})
        if isinstance(value, str):
            if name not in required and _is_text(member, name) and shows_nothing(value):
                del body[name]
            continue
        _drop_empty_texts(value, member)
        if name == EXTENSIONS and isinstance(value, dict):
            body[name] = {project: added for project, added in value.items() if added != {}}
            if not body[name]:
                del body[name]


_EXACT = Context(prec=MOST_DIGITS)
_NAMESPACE = "namespace"


class _Check(NamedTuple):
    """A check of bodies that have one of these members."""

    violations: Callable[[dict[str, Any]], Iterator[Violation]]
    members: Set[str]


class BodyValidator:
    """The compiled rules of one resource."""

    def __init__(self, resource: Resource) -> None:
        self._schema = schema = _checked_schema(resource.json_schema)
        _require_item_keys(schema, resource.array_uniqueness)
        self._is_valid = _compile_validator(schema).is_valid
        self._root = SchemaPlace(schema)
        self._decimals = [(each.path.steps, self._bounds(each), each.decimal_places) for each in resource.decimals]
        self._equalities = [(ends, _are_single(ends)) for ends in map(_in_path_order, resource.equality_constraints)]
        self._unique_arrays = [(rule, rule.array.steps) for rule in resource.array_uniqueness]
        self._checks_of_schema = [_Check(self._check_decimals, {steps[0] for steps, *_ in self._decimals})]
        if resource.is_descriptor:
            self._checks_of_schema.append(_Check(_check_namespace, {_NAMESPACE}))
        self._checks_of_values = [
            _Check(self._check_equalities, {end.steps[0] for ends, _ in self._equalities for end in ends}),
            _Check(self._check_unique_arrays, {steps[0] for _, steps in self._unique_arrays}),
        ]

    def validate_schema(self, body: dict[str, Any], *, drops_empty_texts: bool = False) -> None:
        """Raise DataValidationFailed with the violations of the JSON schema, otherwise with those of rules that it
        cannot express: decimals out of range, a descriptor's namespace that contains `#`.

        With `drops_empty_texts`, optional texts that show nothing are removed from the body first.
        """
        is_valid = self._is_valid(body)
        if not is_valid and drops_empty_texts:
            _drop_empty_texts(body, self._schema)
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
    if "#" in body[_NAMESPACE]:
        yield violations.number_sign("$.namespace")


def _raise_first_kind(body: dict[str, Any], checks: Iterable[_Check]) -> None:
    for check in checks:
        if not check.members.isdisjoint(body) and (found := as_many_as_reported(check.violations(body))):
            raise DataValidationFailed(found)


def decimal_places(number: Decimal) -> int:
    """The places after the point, without zeros at the end: 1 of `1.50`."""
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
    """Return whether each path has at most one value."""
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
