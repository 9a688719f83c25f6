"""The query of a rule → a statement in psycopg's form, and the values of its parameters: defaults, those of the admin
and of the command, and the fixed ones.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

import sqlparse
from sqlparse import tokens
from sqlparse.lexer import tokenize

from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.features.validation.rule import SCHOOL_YEAR, TODAY, Rule
from edfi_api.model.surface.resource import ResourceKind, Surface

_CURRENT_YEAR = """
SELECT max((body ->> 'schoolYear')::integer) FROM document
 WHERE resource_type_id = ANY (%(types)s::smallint[]) AND body @> '{"currentSchoolYear": true}'
"""

ROW_LIMIT = "row_limit"


class UnusableValue(Exception):
    """A text is not a value of a parameter's type."""


@dataclass(frozen=True, slots=True)
class RunValues:
    """The facts on which the values of a run depend: its day and school year, the served standard, the texts of the
    command."""

    today: date
    school_year: int | None
    standard: str
    texts: Mapping[str, str]

    def of(self, rule: Rule, overrides: Mapping[str, str]) -> dict[str, Any]:
        """The value of each parameter; `overrides` are the texts of the admin. Raises UnusableValue."""
        values: dict[str, Any] = {TODAY: self.today, SCHOOL_YEAR: self.school_year}
        for name, parameter in rule.parameters.items():
            text = self.texts.get(name, overrides.get(name))
            values[name] = parameter.default if text is None else parsed(name, parameter.type, text)
        return values

    def basis(self, rule: Rule, values: Mapping[str, Any]) -> str:
        """A digest of all that decides about violations besides the documents. A function may use every parameter."""
        used = values.keys() if rule.find else parameters_in(rule.text) & values.keys()
        facts = [rule.version, rule.digest, self.standard, {name: str(values[name]) for name in sorted(used)}]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def run_values(surface: Surface, using: str, today: date, texts: Mapping[str, str]) -> RunValues:
    """Return what the values of a run in this database depend on."""
    numbers = resource_types.numbers(using)
    years = [numbers[each.name] for each in surface.resources if each.kind is ResourceKind.SCHOOL_YEAR]
    ((school_year,),) = execute(Sql(_CURRENT_YEAR, {"types": years}), using)
    return RunValues(today, school_year, standard_of(surface), texts)


def standard_of(surface: Surface) -> str:
    """The version by which rules name the served standard: `5.2`."""
    return surface.core_project.package_name.rpartition("-")[2]


def parsed(name: str, type_: str, text: str) -> Any:
    """The value of a text. Raises UnusableValue."""
    try:
        match type_:
            case "integer":
                return int(text)
            case "number":
                return Decimal(text)
            case "date":
                return date.fromisoformat(text)
            case "boolean":
                return {"true": True, "false": False}[text.lower()]
            case "texts":
                return [each.strip() for each in text.split(",")]
    except (ValueError, KeyError, InvalidOperation) as error:
        raise UnusableValue(f"{text!r} is not a value of the parameter {name}, which is of the type {type_}") from error
    return text


class QueryFault(Exception):
    """The text of a query is wrong; the message says why."""


def violations_statement(query: str, types: Mapping[str, str]) -> str:
    """The statement, with parameters `%(name)s` in place of `:name`; `%(row_limit)s` limits its rows.

    The query stands in FROM, where the syntax allows no change of data. Raises QueryFault.
    """
    if len([each for each in sqlparse.split(query) if each.strip(" \n\t;")]) != 1:
        raise QueryFault("has to be one query")
    pieces = list(_pieces(query, types))
    while pieces and not pieces[-1].strip(" \n\t;"):
        pieces.pop()
    return f"SELECT v.* FROM (\n{''.join(pieces)}\n) v LIMIT %({ROW_LIMIT})s::bigint"


def parameters_in(query: str) -> set[str]:
    """The names of the parameters that a query uses."""
    return {value[1:] for kind, value in _tokens(query) if _is_parameter(kind, value)}


def _pieces(query: str, types: Mapping[str, str]) -> Iterator[str]:
    for kind, value in _tokens(query):
        if not _is_parameter(kind, value):
            yield value.replace("%", "%%")
        elif value[1:] in types:
            yield f"(%({value[1:]})s::{types[value[1:]]})"
        else:
            raise QueryFault(f"there is no parameter {value}; declared are {', '.join(f':{name}' for name in types)}")


def _is_parameter(kind: object, value: str) -> bool:
    return kind is tokens.Name.Placeholder and value.startswith(":")


def _tokens(query: str) -> Iterator[tuple[Any, str]]:
    yield from tokenize(query)  # type: ignore[no-untyped-call]
