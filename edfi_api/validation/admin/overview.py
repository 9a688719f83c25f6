"""The page of the admin with open results by rule and organization, and with appeared and resolved ones by week."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.contrib.admin import AdminSite
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from edfi_api.operation.administration.store_choice import shown_in
from edfi_api.operation.administration.tables import Cell, PageTable, cells, filtered, tables_page

_LIST = "admin:validation_validationresult_changelist"
_MOST_ROWS = 500
_WEEKS = 12
# Kinds of organizations that others lie below.
_KINDS = """
SELECT DISTINCT t.name FROM document d JOIN resource_type t ON t.id = d.resource_type_id
 WHERE d.hierarchy IS NOT NULL
   AND EXISTS (
       SELECT FROM organization_closure c WHERE c.ancestor_id = d.hierarchy[1] AND c.descendant_id <> c.ancestor_id
   )
 ORDER BY 1
"""
_BY_ORGANIZATION = """
SELECT v.id, v.source || '/' || v.identifier, v.severity, nullif(o.organization, 0), sum(o.entries)::bigint
  FROM open_validation_results o JOIN validation_rule v ON v.id = o.rule_id
 WHERE o.entries > 0 GROUP BY v.id, o.organization
 ORDER BY 5 DESC, 2, 4 LIMIT %(most)s
"""
# An organization of this kind, or one below it.
_BY_KIND = """
WITH kind AS MATERIALIZED (
    SELECT d.hierarchy[1] AS id FROM document d JOIN resource_type t ON t.id = d.resource_type_id
     WHERE d.hierarchy IS NOT NULL AND t.name = %(kind)s
)
SELECT v.id, v.source || '/' || v.identifier, v.severity, kind.id, sum(o.entries)::bigint
  FROM open_validation_results o
  JOIN validation_rule v ON v.id = o.rule_id
  JOIN organization_closure c ON c.descendant_id = o.organization
  JOIN kind ON kind.id = c.ancestor_id
 WHERE o.entries > 0 GROUP BY v.id, kind.id
 ORDER BY 5 DESC, 2, 4 LIMIT %(most)s
"""
_BY_WEEK = """
SELECT date_trunc('week', r.started_at AT TIME ZONE 'UTC'), count(DISTINCT r.id),
       sum(o.appeared)::bigint, sum(o.resolved)::bigint
  FROM validation_run r JOIN validation_run_rule o ON o.run_id = r.id
 WHERE r.started_at > now() - make_interval(weeks => %(weeks)s)
 GROUP BY 1 ORDER BY 1 DESC
"""


class Open(NamedTuple):
    """Open results of a rule in an organization, and those below it if kinds are compared; None without any."""

    rule: int
    name: str
    severity: str
    organization: int | None
    entries: int


class Week(NamedTuple):
    """What runs of a week found."""

    monday: datetime
    runs: int
    appeared: int
    resolved: int


def overview_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """The parameter `by` is a kind of organizations, such as LocalEducationAgency; each has the results of those
    below it. Without, or if there is none of that kind, results are counted by their own organizations."""
    using = shown_in(request).using
    kinds = _kinds(using)
    chosen = request.GET.get("by")
    kind = chosen if chosen in kinds else None
    tables = [_open(_open_results(kind, using), kind), _by_week(_weeks(using))]
    above = Cell("Validation results", reverse(_LIST))
    return tables_page(request, site, tables, title="Validation", above=above, choices=_choices(kinds, kind))


def _choices(kinds: Sequence[str], chosen: str | None) -> list[Cell]:
    return [
        Cell(f"by {kind or 'organization'}", "" if kind == chosen else f"?by={kind or ''}") for kind in (None, *kinds)
    ]


def _open(found: Sequence[Open], kind: str | None) -> PageTable:
    rows = [
        cells(each.name, each.severity, _text(each.organization), Cell(each.entries, _address(each))) for each in found
    ]
    heads = ("Rule", "Severity", kind or "Organization", "Open")
    return PageTable("Open results", heads, rows, "Nothing is open.")


def _by_week(found: Sequence[Week]) -> PageTable:
    rows = [cells(f"{each.monday:%Y-%m-%d}", each.runs, each.appeared, each.resolved) for each in found]
    return PageTable("By week", ("Monday", "Runs", "Appeared", "Resolved"), rows, "No rule was run for twelve weeks.")


def _text(organization: int | None) -> str | None:
    return None if organization is None else str(organization)


def _address(each: Open) -> str:
    filters: dict[str, object] = {"rule__id__exact": each.rule}
    if each.organization is not None:
        filters["organization"] = each.organization
    return filtered(_LIST, filters)


def _kinds(using: str) -> list[str]:
    """The resources of organizations that have others below them."""
    with connections[using].cursor() as cursor:
        return [name for (name,) in cursor.execute(_KINDS)]


def _open_results(kind: str | None, using: str) -> list[Open]:
    """By rule and organization, the largest numbers first; with `kind`, by organizations of this resource."""
    with connections[using].cursor() as cursor:
        statement = _BY_ORGANIZATION if kind is None else _BY_KIND
        return [Open(*row) for row in cursor.execute(statement, {"kind": kind, "most": _MOST_ROWS})]


def _weeks(using: str) -> list[Week]:
    """The latest first. A violation that comes and goes counts each time."""
    with connections[using].cursor() as cursor:
        return [Week(*row) for row in cursor.execute(_BY_WEEK, {"weeks": _WEEKS})]
