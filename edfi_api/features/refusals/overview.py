"""Tables for operators: open entries, from the counts that triggers keep, and the activity of clients."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from edfi_api.web.write_recorder import ACCEPTED_WITH_WARNINGS

# Causes are counted among so many of the latest open entries, so that a page takes the same time at a million.
LOOKED_AT = 20_000
_CAUSES_SHOWN = 20
_MOST_ROWS = 500

_BY_VENDOR = """
SELECT v.id, v.name, o.resource, sum(o.entries)::bigint
  FROM open_refusals o
  JOIN security_apiclient c ON c.id = o.client
  JOIN security_application a ON a.id = c.application_id
  JOIN security_vendor v ON v.id = a.vendor_id
 WHERE o.problem <> 'accepted-with-warnings'
 GROUP BY v.id, v.name, o.resource HAVING sum(o.entries) > 0
"""
_BY_PROBLEM = """
SELECT problem, problem, resource, sum(entries)::bigint FROM open_refusals
 GROUP BY problem, resource HAVING sum(entries) > 0
"""
_ORDER = " ORDER BY 4 DESC, 2, 3 LIMIT %s"
# With what someone does about each, and how many occurred since.
_CAUSES = """
WITH top AS (
    SELECT cause, client, data_store, direction, (array_agg(id))[1] AS latest, min(cause_text) AS text,
           min(problem) AS problem, min(awaited_resource) AS awaited_resource, count(*) AS entries,
           sum(count)::bigint AS occurrences, bool_and(cause_gone) AS is_gone
      FROM (SELECT * FROM refusal WHERE resolved_at IS NULL ORDER BY id DESC LIMIT %s) AS latest
     GROUP BY cause, client, data_store, direction ORDER BY count(*) DESC, min(cause_text) LIMIT %s
)
SELECT top.cause, top.latest, top.text, top.problem, top.awaited_resource, top.client, c.name, top.entries,
       top.occurrences, top.is_gone, f.state, f.until, coalesce(f.since, 0)
  FROM top
  LEFT JOIN security_apiclient c ON c.id = top.client
  LEFT JOIN LATERAL (
    SELECT f.state, f.until, (
        SELECT count(*) FROM refusal r
         WHERE (r.client, r.cause, r.data_store, r.direction)
             = (f.client, f.cause, f.data_store, f.direction)
           AND r.last_at > f.set_at
    ) AS since
      FROM refusal_follow_up f
     WHERE (f.client, f.cause, f.data_store, f.direction)
         = (top.client, top.cause, top.data_store, top.direction)
     ORDER BY f.number DESC LIMIT 1
  ) AS f ON true
 ORDER BY top.entries DESC, top.text
"""
# The last times are found by the latest hours of each client, however many hours there are.
_ACTIVITY = """
SELECT c.id, c.name, v.name, last.accepted_at, last.refused_at,
       coalesce(week.accepted_day, 0), coalesce(week.refused_day, 0), coalesce(week.accepted, 0),
       coalesce(week.refused, 0)
  FROM security_apiclient c
  JOIN security_application a ON a.id = c.application_id
  JOIN security_vendor v ON v.id = a.vendor_id
  CROSS JOIN LATERAL (
    SELECT (SELECT max(last_accepted_at) FROM submission_hour WHERE client = c.id AND hour =
             (SELECT max(hour) FROM submission_hour WHERE client = c.id AND accepted > 0)) AS accepted_at,
           (SELECT max(last_refused_at) FROM submission_hour WHERE client = c.id AND hour =
             (SELECT max(hour) FROM submission_hour WHERE client = c.id AND refused > 0)) AS refused_at
  ) AS last
  LEFT JOIN (
    SELECT client, coalesce(sum(accepted) FILTER (WHERE hour > %(day)s), 0)::bigint AS accepted_day,
           coalesce(sum(refused) FILTER (WHERE hour > %(day)s), 0)::bigint AS refused_day,
           sum(accepted)::bigint AS accepted, sum(refused)::bigint AS refused
      FROM submission_hour WHERE hour > %(week)s GROUP BY client
  ) AS week ON week.client = c.id
 WHERE last.accepted_at IS NOT NULL OR last.refused_at IS NOT NULL
 ORDER BY v.name, c.name, c.id LIMIT %(most)s
"""
_ACTIVITY_BY_RESOURCE = """
SELECT resource, max(last_accepted_at), max(last_refused_at),
       coalesce(sum(accepted) FILTER (WHERE hour > %(day)s), 0)::bigint,
       coalesce(sum(refused) FILTER (WHERE hour > %(day)s), 0)::bigint,
       coalesce(sum(accepted) FILTER (WHERE hour > %(week)s), 0)::bigint,
       coalesce(sum(refused) FILTER (WHERE hour > %(week)s), 0)::bigint
  FROM submission_hour WHERE client = %(client)s
 GROUP BY resource ORDER BY resource LIMIT %(most)s
"""
# Reads the latest entries that rules have found, by a partial index.
_BY_RULE = """
SELECT rule, count(*) FILTER (WHERE resolved_at IS NULL AND problem <> %(warning)s),
       count(*) FILTER (WHERE resolved_at IS NULL AND problem = %(warning)s), sum(count)::bigint, max(last_at)
  FROM (SELECT * FROM refusal WHERE rules <> '{}' ORDER BY id DESC LIMIT %(most)s) AS latest,
       unnest(rules) AS rule
 GROUP BY rule ORDER BY rule
"""


@dataclass(frozen=True, slots=True)
class EntryCount:
    """A number of open entries; `choice` is the value of the filter for `name`."""

    choice: str
    name: str
    resource: str
    entries: int


@dataclass(frozen=True, slots=True)
class FoundByRule:
    """The refusals and warnings of a custom rule: open entries of both, how often in all, and when last."""

    rule: str
    refused: int
    warned: int
    occurrences: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class CauseCount:
    """A cause and the entries that a client has of it among those that were looked at, one of which is `latest`; the
    state that someone has set, and how many occurred since."""

    id: UUID
    latest: UUID
    text: str
    problem: str
    awaited_resource: str
    client: int
    client_name: str | None
    entries: int
    occurrences: int
    is_gone: bool
    state: str | None
    until: date | None
    since: int


@dataclass(frozen=True, slots=True)
class Writes:
    """The times when there were writes last, and the numbers of the last 24 hours and 7 days."""

    last_accepted_at: datetime | None
    last_refused_at: datetime | None
    accepted_day: int
    refused_day: int
    accepted_week: int
    refused_week: int


@dataclass(frozen=True, slots=True)
class Activity:
    """The writes of a client."""

    client: int
    name: str
    vendor: str
    writes: Writes


def table(by: str) -> list[EntryCount]:
    """Open entries by vendor and resource, or by problem and resource, the largest numbers first."""
    statement = (_BY_VENDOR if by == "vendor" else _BY_PROBLEM) + _ORDER
    return [EntryCount(str(choice), *rest) for choice, *rest in _rows(statement, [_MOST_ROWS])]


def open_by_vendor() -> list[tuple[str, int]]:
    """Names of vendors with the numbers of open entries of their clients."""
    totals: dict[str, int] = {}
    for _, name, _, entries in _rows(_BY_VENDOR):
        totals[name] = totals.get(name, 0) + entries
    return sorted(totals.items())


def found_by_rules() -> list[FoundByRule]:
    """Among the latest entries."""
    return [FoundByRule(*row) for row in _rows(_BY_RULE, {"warning": ACCEPTED_WITH_WARNINGS, "most": LOOKED_AT})]


def top_causes() -> list[CauseCount]:
    """The causes of most of the latest open entries."""
    return [CauseCount(*row) for row in _rows(_CAUSES, [LOOKED_AT, _CAUSES_SHOWN])]


def activity() -> list[Activity]:
    """The clients of which anything is known, by vendor and name."""
    rows = _rows(_ACTIVITY, _last_days())
    return [Activity(client, name, vendor, Writes(*writes)) for client, name, vendor, *writes in rows]


def activity_of(client: int) -> list[tuple[str, Writes]]:
    """The writes of a client by the path of the resource, which is empty for unknown resources."""
    rows = _rows(_ACTIVITY_BY_RESOURCE, _last_days() | {"client": client})
    return [(resource, Writes(*writes)) for resource, *writes in rows]


def _last_days() -> dict[str, Any]:
    now = timezone.now()
    return {"day": now - timedelta(days=1), "week": now - timedelta(days=7), "most": _MOST_ROWS}


def _rows(statement: str, parameters: Any = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
