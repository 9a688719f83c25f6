"""The page of the admin with open results by rule and organization, and with appeared and resolved ones by week."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from django.contrib.admin import AdminSite
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.timezone import localdate

from edfi_api.core.security.organizations import names_in
from edfi_api.web.admin_kit.follow_up import state_in_words
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.store_choice import shown_in
from edfi_api.web.admin_kit.tables import Cell, PageTable, cells, filtered, tables_page

_LIST = "admin:validation_validationresult_changelist"
_RULES = "admin:validation_validationrule_changelist"
_MOST_ROWS = 500
_WEEKS, _TREND = 12, 4
# Kinds of organizations that others lie below.
_KINDS = """
SELECT DISTINCT t.name FROM document d JOIN resource_type t ON t.id = d.resource_type_id
 WHERE d.hierarchy IS NOT NULL
   AND EXISTS (
       SELECT FROM organization_closure c WHERE c.ancestor_id = d.hierarchy[1] AND c.descendant_id <> c.ancestor_id
   )
 ORDER BY 1
"""
# Open results as the list shows them: without those that are dismissed.
_OPEN = """
WITH dismissed AS MATERIALIZED (
    SELECT r.rule_id, coalesce(r.organization, 0) AS organization, count(*) AS entries
      FROM validation_result r
     WHERE r.resolved_at IS NULL
       AND r.result_key IN (SELECT result_key FROM validation_dismissal WHERE until >= %(today)s)
     GROUP BY 1, 2
), open_results AS MATERIALIZED (
    SELECT o.rule_id, o.organization, o.entries - coalesce(x.entries, 0) AS entries
      FROM open_validation_results o LEFT JOIN dismissed x USING (rule_id, organization)
     WHERE o.entries > coalesce(x.entries, 0)
)
"""
# With what someone does about the rule there, and how many results appeared since.
_BY_ORGANIZATION = f"""{_OPEN}, top AS (
    SELECT v.id, v.source || '/' || v.identifier AS name, v.severity, o.organization, sum(o.entries)::bigint AS entries
      FROM open_results o JOIN validation_rule v ON v.id = o.rule_id
     GROUP BY v.id, o.organization
     ORDER BY 5 DESC, 2, 4 LIMIT %(most)s
)
SELECT top.id, top.name, top.severity, nullif(top.organization, 0), top.entries, f.state, f.until, coalesce(f.since, 0)
  FROM top LEFT JOIN LATERAL (
    SELECT f.state, f.until, (
        SELECT count(*) FROM validation_result r
         WHERE r.rule_id = f.rule_id AND r.appeared_at > f.set_at
           AND (r.organization = f.organization OR (r.organization IS NULL AND f.organization = 0))
    ) AS since
      FROM validation_follow_up f
     WHERE (f.rule_id, f.organization) = (top.id, top.organization)
     ORDER BY f.number DESC LIMIT 1
  ) AS f ON true
 ORDER BY top.entries DESC, top.name, top.organization
"""
_BY_RULE = f"""{_OPEN}
SELECT v.id, v.source || '/' || v.identifier, v.short_description, v.severity,
       coalesce((SELECT sum(entries) FROM open_results o WHERE o.rule_id = v.id), 0)::bigint,
       coalesce(sum(o.appeared), 0)::bigint, coalesce(sum(o.resolved), 0)::bigint
  FROM validation_rule v
  LEFT JOIN (validation_run_rule o
             JOIN validation_run r ON r.id = o.run_id AND r.started_at > now() - make_interval(weeks => %(weeks)s))
    ON o.rule_id = v.id
 GROUP BY v.id HAVING coalesce(sum(o.appeared), 0) > 0
        OR EXISTS (SELECT FROM open_results o WHERE o.rule_id = v.id)
 ORDER BY 5 DESC, 2 LIMIT %(most)s
"""
_AT_AND_BELOW = f"""{_OPEN}
SELECT c.ancestor_id, sum(o.entries)::bigint
  FROM open_results o JOIN organization_closure c ON c.descendant_id = o.organization
 WHERE c.ancestor_id = ANY (%(organizations)s)
 GROUP BY 1
"""
_NUMBER = f"{_OPEN} SELECT coalesce(sum(entries), 0)::bigint FROM open_results"
# An organization of this kind, or one below it.
_BY_KIND = f"""{_OPEN}, kind AS MATERIALIZED (
    SELECT d.hierarchy[1] AS id FROM document d JOIN resource_type t ON t.id = d.resource_type_id
     WHERE d.hierarchy IS NOT NULL AND t.name = %(kind)s
)
SELECT v.id, v.source || '/' || v.identifier, v.severity, kind.id, sum(o.entries)::bigint
  FROM open_results o
  JOIN validation_rule v ON v.id = o.rule_id
  JOIN organization_closure c ON c.descendant_id = o.organization
  JOIN kind ON kind.id = c.ancestor_id
 GROUP BY v.id, kind.id
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
    """Open results of a rule in an organization, and those below it if kinds are compared; None without any. The state
    that someone has set, and how many appeared since, if kinds are not compared."""

    rule: int
    name: str
    severity: str
    organization: int | None
    entries: int
    state: str | None = None
    until: date | None = None
    since: int = 0


class RuleCount(NamedTuple):
    """Open results of a rule, and how many appeared and were resolved in the last weeks."""

    rule: int
    name: str
    description: str
    severity: str
    entries: int
    appeared: int
    resolved: int


class Week(NamedTuple):
    """The numbers that runs of a week found."""

    monday: datetime
    runs: int
    appeared: int
    resolved: int


def open_at_and_below(organizations: Sequence[int], using: str) -> dict[int, int]:
    """Return the numbers of open results of these organizations, each with those below it, as the list counts them."""
    parameters: dict[str, Any] = {"organizations": list(organizations), "today": localdate()}
    with connections[using].cursor() as cursor:
        return dict(cursor.execute(_AT_AND_BELOW, parameters))


def number_of_open(using: str) -> int:
    """Return the number of open results."""
    with connections[using].cursor() as cursor:
        [(number,)] = cursor.execute(_NUMBER, {"today": localdate()})
        return int(number)


def overview_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """The parameter `by` is a kind of organizations, such as LocalEducationAgency; each has the results of those
    below it. Without, or if there is none of that kind, results are counted by their own organizations."""
    using = shown_in(request).using
    kinds = _kinds(using)
    chosen = request.GET.get("by")
    kind = chosen if chosen in kinds else None
    tables = [_by_rule(_rules(using)), _open(_open_results(kind, using), kind, using), _by_week(_weeks(using))]
    above = Cell("Validation results", reverse(_LIST))
    return tables_page(request, site, tables, title="Validation", above=above, choices=_choices(kinds, kind))


def _choices(kinds: Sequence[str], chosen: str | None) -> list[Cell]:
    return [Cell(f"by {_in_words(kind)}", "" if kind == chosen else f"?by={kind or ''}") for kind in (None, *kinds)]


def _in_words(kind: str | None) -> str:
    return kind_in_words(kind).in_a_sentence if kind else "organization"


def _by_rule(found: Sequence[RuleCount]) -> PageTable:
    rows = [
        cells(
            Cell(each.name, filtered(_RULES, {"q": each.name.rpartition("/")[2]})),
            each.description,
            each.severity,
            Cell(each.entries, filtered(_LIST, {"rule__id__exact": each.rule})),
            each.appeared,
            each.resolved,
        )
        for each in found
    ]
    heads = ("Rule", "Finds", "Severity", "Open", f"Appeared, {_TREND} weeks", f"Resolved, {_TREND} weeks")
    return PageTable("By rule", heads, rows, "No rule has found anything.")


def _open(found: Sequence[Open], kind: str | None, using: str) -> PageTable:
    names = names_in({each.organization for each in found if each.organization is not None}, using)
    rows = [
        cells(
            each.name if kind else Cell(each.name, _page(each)),
            each.severity,
            _text(each.organization, names),
            Cell(each.entries, _address(each)),
            *(() if kind else (state_in_words(each.state, each.until, each.since),)),
        )
        for each in found
    ]
    of = kind_in_words(kind).singular if kind else "Organization"
    heads = ("Rule", "Severity", of, "Open", *(() if kind else ("State",)))
    return PageTable("Open results", heads, rows, "Nothing is open.")


def _page(each: Open) -> str:
    return reverse("admin:validation_rule_at", args=[each.rule, each.organization or 0])


def _by_week(found: Sequence[Week]) -> PageTable:
    rows = [cells(f"{each.monday:%Y-%m-%d}", each.runs, each.appeared, each.resolved) for each in found]
    return PageTable("By week", ("Monday", "Runs", "Appeared", "Resolved"), rows, "No rule was run for twelve weeks.")


def _text(organization: int | None, names: Mapping[int, str]) -> str | None:
    return None if organization is None else " · ".join(filter(None, (names.get(organization), str(organization))))


def _address(each: Open) -> str:
    filters: dict[str, object] = {"rule__id__exact": each.rule}
    if each.organization is not None:
        filters["organization"] = each.organization
    return filtered(_LIST, filters)


def _kinds(using: str) -> list[str]:
    """The resources of organizations that have others below them."""
    with connections[using].cursor() as cursor:
        return [name for (name,) in cursor.execute(_KINDS)]


def open_by_organization(using: str) -> list[Open]:
    """Return the open results by rule and organization, the largest numbers first."""
    return _open_results(None, using)


def _open_results(kind: str | None, using: str) -> list[Open]:
    """Return the open results by rule and organization, the largest numbers first; with `kind`, by organizations of
    this resource.
    """
    statement = _BY_ORGANIZATION if kind is None else _BY_KIND
    parameters: dict[str, Any] = {"kind": kind, "most": _MOST_ROWS, "today": localdate()}
    with connections[using].cursor() as cursor:
        return [Open(*row) for row in cursor.execute(statement, parameters)]


def _rules(using: str) -> list[RuleCount]:
    """The rules that have open results or have found something lately, most open ones first."""
    parameters: dict[str, Any] = {"weeks": _TREND, "most": _MOST_ROWS, "today": localdate()}
    with connections[using].cursor() as cursor:
        return [RuleCount(*row) for row in cursor.execute(_BY_RULE, parameters)]


def _weeks(using: str) -> list[Week]:
    """The latest first. A violation that comes and goes counts each time."""
    with connections[using].cursor() as cursor:
        return [Week(*row) for row in cursor.execute(_BY_WEEK, {"weeks": _WEEKS})]
