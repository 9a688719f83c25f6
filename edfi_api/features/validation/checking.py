"""What is wrong with rules, without running them: their metadata, and whether PostgreSQL can plan their queries."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import errors

from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.features.validation.connections import NoLogin, Reading, reading
from edfi_api.features.validation.finding import RuleFault, checked_columns, fault_of, resource_of
from edfi_api.features.validation.rule import SCOPE, Problem, Rule
from edfi_api.features.validation.values import (
    ROW_LIMIT,
    QueryFault,
    RunValues,
    parameters_in,
    standard_of,
    violations_statement,
)
from edfi_api.model.surface.resource import Resource, Surface

_SECONDS = 30
_MANY_ROWS = 100_000
# The rows of the whole table: a plan has how many rows a filter leaves. Tables that were never analyzed have -1.
_TABLE_ROWS = """
SELECT c.reltuples FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = %(schema)s AND c.relname = %(table)s
"""
_NAMESAKE = """
SELECT resource, short_description, digest, retired_at IS NOT NULL AND is_on FROM validation_rule
 WHERE source = %(source)s AND identifier = %(identifier)s
"""


def served(rules: Iterable[Rule], surface: Surface) -> list[Rule]:
    """The rules for the served standard."""
    return [rule for rule in rules if not rule.standards or not surface.standards.isdisjoint(rule.standards)]


def problems(rule: Rule, surface: Surface, using: str) -> Iterator[Problem]:
    """Return all that is wrong with a rule for the served standard. Nothing is executed."""
    try:
        resource = resource_of(rule, surface)
        if former := _former_rule(rule, resource, using):
            yield Problem(rule.path, rule.line, f"the identifier {rule.identifier!r} was another rule's: {former}")
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
            statement = violations_statement(rule.text, rule.types)
            with opened.cursor(statement, _values(rule, surface)) as cursor:
                checked_columns(cursor.description or ())
    except (RuleFault, QueryFault, NoLogin) as fault:
        yield Problem(rule.path, _query_line(rule), str(fault))
    except psycopg.Error as error:
        yield Problem(rule.path, _line_of(error, rule), fault_of(error, rule))


def plan(rule: Rule, surface: Surface, using: str) -> str:
    """The plan of the rule's query, as EXPLAIN prints it. Raises psycopg's errors, and QueryFault."""
    with reading(using, rule, _SECONDS) as opened:
        statement = violations_statement(rule.text, rule.types)
        return "\n".join(line for (line,) in opened.explain(statement, _values(rule, surface), "COSTS"))


def large_scans(rule: Rule, surface: Surface, using: str) -> list[str]:
    """The tables of which more than 100,000 rows are read one after the other."""
    with reading(using, rule, _SECONDS) as opened:
        # VERBOSE adds the schemas of tables.
        statement = violations_statement(rule.text, rule.types)
        [[explained]] = opened.explain(statement, _values(rule, surface), "FORMAT JSON, VERBOSE")
        found = json.loads(explained) if isinstance(explained, str) else explained
        scans = list(_scans(found[0]["Plan"]))
        return sorted({scan["Relation Name"] for scan in scans if _rows_read(scan, opened) > _MANY_ROWS})


def _scans(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if node["Node Type"] == "Seq Scan":
        yield node
    for each in node.get("Plans", ()):
        yield from _scans(each)


def _rows_read(scan: dict[str, Any], opened: Reading) -> float:
    [(rows,)] = opened.all(_TABLE_ROWS, {"schema": scan["Schema"], "table": scan["Relation Name"]})
    return max(float(rows), float(scan["Plan Rows"]))


def _former_rule(rule: Rule, resource: Resource, using: str) -> str:
    """The short description of another rule that had the identifier, as far as that can be seen: one about another
    resource, or one that was removed and had both another text and another short description."""
    given = {"source": rule.source, "identifier": rule.identifier}
    for name, short, digest, was_removed in execute(Sql(_NAMESAKE, given), using):
        is_rewritten = digest != rule.digest and short != rule.short
        if name != resource.name.resource or (was_removed and is_rewritten):
            return f"{short} ({name})"
    return ""


def _values(rule: Rule, surface: Surface) -> dict[str, object]:
    today = datetime.now(UTC).date()
    return {**RunValues(today, None, standard_of(surface), {}).of(rule, {}), SCOPE: None, ROW_LIMIT: rule.row_limit}


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
