"""What is wrong with rules, without running them: their metadata, and whether PostgreSQL can plan their queries."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import errors

from edfi_api.model.surface.resource import Surface

from .connections import reading
from .faults import fault_of, resource_of
from .finding import RuleFault, checked_columns
from .query_text import ROW_LIMIT, QueryFault, parameters_in, violations_statement
from .rule import SCOPE, Problem, Rule
from .values import Given, standard_of

_SECONDS = 30
_MANY_ROWS = 100_000


def served(rules: Iterable[Rule], surface: Surface) -> list[Rule]:
    """The rules for the served standard."""
    names = {standard_of(surface), surface.core_project.version}
    return [rule for rule in rules if not rule.standards or not names.isdisjoint(rule.standards)]


def problems(rule: Rule, surface: Surface, using: str) -> Iterator[Problem]:
    """Everything that is wrong with a rule for the served standard. Nothing is executed."""
    try:
        resource_of(rule, surface)
    except RuleFault as fault:
        yield Problem(rule.path, rule.line, str(fault))
    for path in rule.incremental.watch if rule.incremental else ():
        if surface.resource_at(path) is None:
            yield Problem(rule.path, rule.line, f"the standard has no resource {path}, which is watched")
    if rule.find:
        return
    used = parameters_in(rule.text)
    for name in sorted(rule.parameters.keys() - used):
        yield Problem(rule.path, rule.line, f"the parameter {name!r} is not used")
    if rule.incremental and SCOPE not in used:
        yield Problem(rule.path, rule.line, "is incremental, but does not use :scope")
    try:
        with reading(using, rule, _SECONDS) as opened:
            opened.least_privilege()
            statement = violations_statement(rule.text, rule.types)
            with opened.cursor(statement, _values(rule, surface)) as cursor:
                checked_columns(cursor.description or ())
    except (RuleFault, QueryFault) as fault:
        yield Problem(rule.path, _query_line(rule), str(fault))
    except psycopg.Error as error:
        yield Problem(rule.path, _line_of(error, rule), fault_of(error, rule))


def plan(rule: Rule, surface: Surface, using: str) -> str:
    """The plan of the rule's query, as EXPLAIN prints it. Raises psycopg's errors, and QueryFault."""
    with reading(using, rule, _SECONDS) as opened:
        opened.least_privilege()
        statement = "EXPLAIN " + violations_statement(rule.text, rule.types)
        return "\n".join(line for (line,) in opened.all(statement, _values(rule, surface)))


def large_scans(rule: Rule, surface: Surface, using: str) -> list[str]:
    """The tables of which more than 100,000 rows are read one after the other."""
    with reading(using, rule, _SECONDS) as opened:
        opened.least_privilege()
        statement = "EXPLAIN (FORMAT JSON) " + violations_statement(rule.text, rule.types)
        [[explained]] = opened.all(statement, _values(rule, surface))
    found = json.loads(explained) if isinstance(explained, str) else explained
    return sorted(set(_scans(found[0]["Plan"])))


def _scans(node: dict[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan" and node["Plan Rows"] > _MANY_ROWS:
        yield node["Relation Name"]
    for each in node.get("Plans", ()):
        yield from _scans(each)


def _values(rule: Rule, surface: Surface) -> dict[str, object]:
    today = datetime.now(UTC).date()
    return {**Given(today, None, standard_of(surface), {}).of(rule, {}), SCOPE: None, ROW_LIMIT: rule.row_limit}


def _query_line(rule: Rule) -> int:
    """The line of the file in which the query begins."""
    content = rule.path.read_text(encoding="utf-8")
    return content[: content.rindex(rule.text)].count("\n") + 1


def _line_of(error: psycopg.Error, rule: Rule) -> int:
    """The line of the file for the server's position: the query is on lines of its own in the statement, and
    parameters do not span lines."""
    position = error.diag.statement_position
    query = error.diag.internal_query
    if position is None or query is not None or isinstance(error, errors.ConnectionTimeout):
        return _query_line(rule)
    statement = violations_statement(rule.text, rule.types)
    lines = statement[: int(position)].count("\n")
    return _query_line(rule) + max(0, min(lines - 1, rule.text.count("\n")))
