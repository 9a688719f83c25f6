"""`manage.py purge_validation`

Removes results that were resolved long ago, and the runs before.
"""

from argparse import ArgumentParser
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from edfi_api.common.commands import add_database, add_retention
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.storage.driver.execution import execute_in_batches

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


class Command(DataStoreCommand):
    """See the module."""

    help = (
        "Deletes results of validation that were resolved before the retention time, and earlier runs; results about"
        f" deleted documents after {DAYS_OF_DELETED} days."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_retention(parser, api_settings.VALIDATION_DAYS)
        add_database(parser, "the database to purge")

    def handle(self, *args: Any, days: int, database: str, **options: Any) -> None:
        purged = purge(timezone.now(), days, database)
        audit.log_change("validation purged", results=purged.results, runs=purged.runs, days=days, by="command")
        self.stdout.write(f"{counted(purged.results, 'result')} and {counted(purged.runs, 'run')} purged")


@dataclass(frozen=True, slots=True)
class PurgedResults:
    """The numbers of results and runs that were removed."""

    results: int
    runs: int


def purge(now: datetime, days: int, using: str) -> PurgedResults:
    """Remove what was resolved so many days ago; of deleted documents after `DAYS_OF_DELETED` days."""
    given = {
        "before": now - timedelta(days=days),
        "before_of_deleted": now - timedelta(days=min(days, DAYS_OF_DELETED)),
    }
    execute_in_batches(_REQUESTS, given, using)
    return PurgedResults(execute_in_batches(_RESULTS, given, using), execute_in_batches(_RUNS, given, using))
