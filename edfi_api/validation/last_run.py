"""The last run of a database, for pages about its state."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connections

_LAST = """
SELECT r.run_identifier, r.status, r.started_at, r.finished_at, count(rule.rule_id),
       count(*) FILTER (WHERE rule.outcome <> 'published'),
       coalesce(sum(rule.appeared), 0)::bigint, coalesce(sum(rule.resolved), 0)::bigint
  FROM (SELECT * FROM validation_run ORDER BY id DESC LIMIT 1) r
  LEFT JOIN validation_run_rule rule ON rule.run_id = r.id
 GROUP BY r.run_identifier, r.status, r.started_at, r.finished_at
"""


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
