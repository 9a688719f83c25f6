"""What metrics, and pages about the state of a database, say about validation."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import connections
from prometheus_client.metrics_core import GaugeMetricFamily

_RESULTS = """
SELECT v.identifier, v.severity, sum(o.entries)::bigint
  FROM open_validation_results o JOIN validation_rule v ON v.id = o.rule_id
 GROUP BY 1, 2 HAVING sum(o.entries) > 0
"""
_RULES = """
SELECT v.identifier, o.seconds, o.outcome FROM validation_rule v
 CROSS JOIN LATERAL (
    SELECT seconds, outcome FROM validation_run_rule WHERE rule_id = v.id ORDER BY run_id DESC LIMIT 1
 ) o
 WHERE v.retired_at IS NULL
"""
_AGE = """
SELECT extract(epoch FROM clock_timestamp() - finished_at)::double precision FROM validation_run
 WHERE status = 'Completed' ORDER BY id DESC LIMIT 1
"""
_LAST = """
SELECT r.run_identifier, r.status, r.started_at, r.finished_at, count(rule.rule_id),
       count(*) FILTER (WHERE rule.outcome <> 'published'),
       coalesce(sum(rule.appeared), 0)::bigint, coalesce(sum(rule.resolved), 0)::bigint
  FROM (SELECT * FROM validation_run ORDER BY id DESC LIMIT 1) r
  LEFT JOIN validation_run_rule rule ON rule.run_id = r.id
 GROUP BY r.run_identifier, r.status, r.started_at, r.finished_at
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """Open results by rule and severity, seconds of each rule's last run and whether it failed, and the seconds since
    the last completed run; None without any."""

    results: tuple[tuple[str, str, int], ...]
    rules: tuple[tuple[str, float, bool], ...]
    age: float | None


def figures(using: str) -> Figures:
    with connections[using].cursor() as cursor:
        results = tuple(cursor.execute(_RESULTS))
        rules = tuple((rule, seconds, outcome != "published") for rule, seconds, outcome in cursor.execute(_RULES))
        last = cursor.execute(_AGE).fetchone()
    return Figures(results, rules, last[0] if last else None)


@dataclass(frozen=True, slots=True)
class LastRun:
    """A run, how many rules it ran, how many of these failed, and how many results appeared and were resolved.

    `status` is `Running`, `Completed` or `Stopped`; `finished_at` is None while it runs.
    """

    run_identifier: str
    status: str
    started_at: datetime
    finished_at: datetime | None
    rules: int
    failed_rules: int
    appeared: int
    resolved: int


def last_run(using: str) -> LastRun | None:
    """The run of this database that began last; None if there was none."""
    with connections[using].cursor() as cursor:
        row = cursor.execute(_LAST).fetchone()
    return LastRun(*row) if row else None


def metrics() -> Iterator[GaugeMetricFamily]:
    """Open results, and the last runs of rules."""
    results = GaugeMetricFamily(
        "meadowlark_validation_results", "Open results of validation.", labels=["rule", "severity"]
    )
    seconds = GaugeMetricFamily(
        "meadowlark_validation_rule_seconds", "How long the last run of a rule took.", labels=["rule"]
    )
    failed = GaugeMetricFamily(
        "meadowlark_validation_failed_rules", "Rules that failed or were not run completely the last time."
    )
    age = GaugeMetricFamily(
        "meadowlark_validation_last_run_seconds", "Time since the last completed run; absent without any."
    )
    found = figures("default")
    for rule, severity, number in found.results:
        results.add_metric([rule, severity], number)
    for rule, duration, _ in found.rules:
        seconds.add_metric([rule], duration)
    failed.add_metric([], sum(has_failed for *_, has_failed in found.rules))
    if found.age is not None:
        age.add_metric([], found.age)
    yield from (results, seconds, failed, age)
