"""Removes results that were resolved long ago, and the runs before."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from edfi_api.core.storage.driver.batches import in_batches

# Results about deleted documents may be the last data about a person.
DAYS_OF_DELETED = 30

_RESULTS = """
DELETE FROM validation_result WHERE id = ANY (ARRAY(
    SELECT r.id FROM validation_result r
     WHERE r.resolved_at < %(before)s
        OR (r.resolved_at < %(before_of_deleted)s AND r.document_uuid IS NOT NULL
            AND NOT EXISTS (SELECT FROM document d WHERE d.document_uuid = r.document_uuid))
     LIMIT %(batch)s
))
"""
# The last run of each rule stays, and those to which results refer.
_RUNS = """
DELETE FROM validation_run WHERE id = ANY (ARRAY(
    SELECT r.id FROM validation_run r
     WHERE r.finished_at < %(before)s
       AND NOT EXISTS (SELECT FROM validation_rule v WHERE v.published_run = r.id)
       AND NOT EXISTS (SELECT FROM validation_result d WHERE d.first_run = r.id)
       AND NOT EXISTS (SELECT FROM validation_result d WHERE d.resolved_run = r.id)
     LIMIT %(batch)s
))
"""
_REQUESTS = """
DELETE FROM validation_request WHERE id = ANY (ARRAY(
    SELECT r.id FROM validation_request r WHERE r.ended_at < %(before)s LIMIT %(batch)s
))
"""


@dataclass(frozen=True, slots=True)
class PurgedResults:
    """How many results and runs were removed."""

    results: int
    runs: int


def purge(now: datetime, days: int, using: str) -> PurgedResults:
    """Remove what was resolved so many days ago; of deleted documents after `DAYS_OF_DELETED` days."""
    given = {
        "before": now - timedelta(days=days),
        "before_of_deleted": now - timedelta(days=min(days, DAYS_OF_DELETED)),
    }
    in_batches(_REQUESTS, given, using)
    return PurgedResults(in_batches(_RESULTS, given, using), in_batches(_RUNS, given, using))
