"""The members of a rule, from TOML or the decorator of a function → `Rule`. All problems are reported together."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from edfi_api.common.rule_files import NOT_EMPTY, Standards, problems_of_members
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

_Name = Annotated[str, Meta(min_length=1, max_length=100, description=NOT_EMPTY)]
_Address = Annotated[str, Meta(min_length=1, max_length=255, description=NOT_EMPTY)]
_Line = Annotated[str, Meta(min_length=1, max_length=1024, description=NOT_EMPTY)]
_Description = Annotated[str, Meta(min_length=1, max_length=4000, description=NOT_EMPTY)]
_Flag = Annotated[bool, Meta(description="true or false")]
_Rows = Annotated[int, Meta(ge=1, le=10_000_000, description="a number from 1 to 10000000")]
_Seconds = Annotated[int, Meta(ge=1, le=86_400, description="a number from 1 to 86400")]
_Severity = Annotated[Severity, Meta(description=f"one of {', '.join(Severity)}")]
_Over = Annotated[Literal["documents", "views"], Meta(description="one of documents, views")]
_Parameters = Annotated[dict[str, Any], Meta(description="a table")]


class _Members(msgspec.Struct, kw_only=True):
    """The members of a rule. Those of `parameters` and `incremental` are read in a second step."""

    identifier: _Name
    source: _Name
    version: _Name
    short: _Line
    severity: _Severity
    category: _Line
    resource: _Address
    description: _Description = ""
    help_url: _Address = ""
    external_id: _Name = ""
    standards: Standards = ()
    over: _Over = "documents"
    active: _Flag = True
    parameters: _Parameters = {}
    incremental: Any = None
    row_limit: _Rows = 100_000
    seconds: _Seconds = 300
    publish_logic: _Flag = False


_RESERVED = (*FIXED_TYPES, SCOPE, "row_limit")
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
    problems = [
        *problems_of_members(members, _Members),
        *_parameters(members.get("parameters")),
        *(_incremental(members["incremental"]) if "incremental" in members else ()),
    ]
    if problems:
        raise InvalidRule(problems)
    given = msgspec.structs.asdict(msgspec.convert(members, _Members))
    given["parameters"] = {name: Parameter(each["type"], each["default"]) for name, each in given["parameters"].items()}
    if each := given["incremental"]:
        given["incremental"] = Incremental(Scope(each["scope"]), tuple(each["watch"]))
    return Rule(**given, **found)


def is_value_of(type_: str, value: Any) -> bool:
    """Whether a value of Python or TOML is one of a type of parameters."""
    if isinstance(value, bool) and type_ != "boolean":
        return False
    if type_ == "texts":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, _PYTHON_TYPES[type_])


def _parameters(given: Any) -> Iterator[str]:
    for name, each in given.items() if isinstance(given, Mapping) else ():
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
    watched = given["watch"]
    if not isinstance(watched, list | tuple) or not watched or not all(isinstance(each, str) for each in watched):
        yield "'watch' has to be a list of resources, such as [\"ed-fi/students\"]"
