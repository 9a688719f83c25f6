"""The violations of a JSON schema as a lazy iterator, so that the caller can stop at a limit.

The library computes its list of errors completely, and each error has a copy of the offending value: a megabyte of
invalid items takes gigabytes of memory. So each node of the schema is checked by the library on its own, and only the
traversal of objects and arrays is implemented here.
"""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from edfi_api.core.documents import violations
from edfi_api.core.documents.blanks import shows_nothing
from edfi_api.core.documents.dates_and_times import is_date, is_date_time, is_time
from edfi_api.core.documents.violations import Violation

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


def compile_validator(schema: dict[str, Any]) -> Draft202012Validator:
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
    return compile_validator(json.loads(schema))


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
