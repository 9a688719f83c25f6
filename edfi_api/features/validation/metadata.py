"""The members of a rule, from TOML or the decorator of a function → `Rule`. All problems are reported together."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from edfi_api.features.validation.rule import (
    FIXED_TYPES,
    PARAMETER_TYPES,
    SCOPE,
    Incremental,
    Parameter,
    Rule,
    Scope,
    Severity,
)

_REQUIRED = ("identifier", "source", "version", "short", "severity", "category", "resource")
_LONGEST = {
    "identifier": 100,
    "source": 100,
    "version": 100,
    "short": 1024,
    "description": 4000,
    "category": 1024,
    "resource": 255,
    "help_url": 255,
    "external_id": 100,
}
_FLAGS = ("active", "publish_logic")
_COUNTS = {"row_limit": 10_000_000, "seconds": 86_400}
_OTHERS = ("severity", "standards", "over", "parameters", "incremental")
_MEMBERS = frozenset((*_LONGEST, *_FLAGS, *_COUNTS, *_OTHERS))
_RESERVED = (*FIXED_TYPES, SCOPE, "row_limit")
_OVER = ("documents", "views")
_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "date": date,
    "texts": list,
}


class InvalidRule(Exception):
    """All problems of the members of a rule, as texts."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def rule_of(members: Mapping[str, Any], **found: Any) -> Rule:
    """The rule with these members; `found` are path, line, text and function. Raises InvalidRule."""
    problems = list(_problems(members))
    if problems:
        raise InvalidRule(problems)
    given = dict(members)
    given["severity"] = Severity(given["severity"])
    given["standards"] = tuple(given.get("standards", ()))
    given["parameters"] = {
        name: Parameter(each["type"], each["default"]) for name, each in given.get("parameters", {}).items()
    }
    if "incremental" in given:
        each = given["incremental"]
        given["incremental"] = Incremental(Scope(each["scope"]), tuple(each["watch"]))
    return Rule(**given, **found)


def is_value_of(type_: str, value: Any) -> bool:
    """Whether a value of Python or TOML is one of a type of parameters."""
    if isinstance(value, bool) and type_ != "boolean":
        return False
    if type_ == "texts":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, _PYTHON_TYPES[type_])


def _problems(members: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(members.keys() - _MEMBERS):
        yield f"unknown member {name!r}"
    for name in _REQUIRED:
        if name not in members:
            yield f"{name!r} is missing"
    for name, longest in _LONGEST.items():
        value = members.get(name, "-")
        if not isinstance(value, str) or not value:
            yield f"{name!r} has to be a text that is not empty"
        elif len(value) > longest:
            yield f"{name!r} has {len(value)} characters, of at most {longest}"
    for name in _FLAGS:
        if not isinstance(members.get(name, True), bool):
            yield f"{name!r} has to be true or false"
    for name, most in _COUNTS.items():
        value = members.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            yield f"{name!r} has to be a number from 1 to {most}"
    yield from _choices(members)
    yield from _parameters(members.get("parameters", {}))
    yield from _incremental(members.get("incremental", {"scope": Scope.DOCUMENT, "watch": ["-"]}))


def _choices(members: Mapping[str, Any]) -> Iterator[str]:
    if members.get("severity", Severity.MINOR) not in list(Severity):
        yield f"'severity' has to be one of {', '.join(Severity)}"
    if members.get("over", _OVER[0]) not in _OVER:
        yield f"'over' has to be one of {', '.join(_OVER)}"
    if not _are_texts(members.get("standards", ["-"])):
        yield "'standards' has to be a list of versions, such as [\"5.2\"]"


def _parameters(given: Any) -> Iterator[str]:
    if not isinstance(given, Mapping):
        yield "'parameters' has to be a table"
        return
    for name, each in given.items():
        if not name.isidentifier() or name in _RESERVED:
            yield f"{name!r} cannot be the name of a parameter"
        if not isinstance(each, Mapping) or each.keys() != {"type", "default"}:
            yield f"the parameter {name!r} has to have 'type' and 'default'"
        elif each["type"] not in PARAMETER_TYPES:
            yield f"the type of the parameter {name!r} has to be one of {', '.join(PARAMETER_TYPES)}"
        elif not is_value_of(each["type"], each["default"]):
            yield f"the default of the parameter {name!r} is not of its type {each['type']}"


def _incremental(given: Any) -> Iterator[str]:
    if not isinstance(given, Mapping) or given.keys() != {"scope", "watch"}:
        yield "'incremental' has to have 'scope' and 'watch'"
        return
    if given["scope"] not in list(Scope):
        yield f"the scope has to be one of {', '.join(Scope)}"
    if not _are_texts(given["watch"]):
        yield "'watch' has to be a list of resources, such as [\"ed-fi/students\"]"


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, str) for each in value)
