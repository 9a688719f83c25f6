"""`manage.py purge_refusals`

Removes entries of the ledger after the retention time, and closes those that no write can resolve.
"""

from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils import timezone

from edfi_api.common.commands import add_retention
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.features.refusals.ledger import Ledger

_BATCH = 5_000
_DAYS_WITHOUT_IDENTITY = 7
_DAYS_OF_HOURS = 400

_PURGE = """
DELETE FROM refusal WHERE ctid = ANY (ARRAY(SELECT ctid FROM refusal WHERE last_at < %s LIMIT %s)) RETURNING 1
"""
_AGE = """
UPDATE refusal SET resolved_at = clock_timestamp(), resolution = 'aged', sequence = nextval('refusal_change')
 WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM refusal WHERE resolved_at IS NULL AND NOT has_identity AND last_at < %s LIMIT %s
 )) RETURNING 1
"""
_PURGE_HOURS = """
DELETE FROM submission_hour WHERE ctid = ANY (ARRAY(SELECT ctid FROM submission_hour WHERE hour < %s LIMIT %s))
RETURNING 1
"""
# The states of a cause are kept as long as its refusals, and while it is dismissed.
_PURGE_FOLLOW_UPS = """
DELETE FROM refusal_follow_up WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM refusal_follow_up f
     WHERE set_at < %s AND (until IS NULL OR until < current_date) AND NOT EXISTS (
        SELECT FROM refusal r
         WHERE (r.client, r.cause, r.data_store, r.direction) = (f.client, f.cause, f.data_store, f.direction)
     ) LIMIT %s
)) RETURNING 1
"""
_NOTHING_OPEN = "DELETE FROM open_refusals WHERE entries = 0 RETURNING 1"


class Command(BaseCommand):
    help = (
        "Deletes refusals that occurred last before the retention time, resolved or not. Open ones that no write can "
        "resolve, because nothing identifies their document, are closed after seven days."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_retention(parser, api_settings.REFUSAL_DAYS)

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        purged, aged = purge(timezone.now() - timedelta(days=days), DEFAULT_DB_ALIAS)
        audit.log_change("refusals purged", refusals=purged, aged=aged, days=days, by="command")
        self.stdout.write(f"{counted(purged, 'refusal')} purged, {aged} closed as aged")


def purge(before: datetime, using: str) -> tuple[int, int]:
    """Remove entries that occurred last before a time. Returns how many, and how many were closed as aged."""
    ledger, now = Ledger(connections[using]), timezone.now()
    purged = _in_batches(ledger, _PURGE, before)
    aged = _in_batches(ledger, _AGE, now - timedelta(days=_DAYS_WITHOUT_IDENTITY))
    _in_batches(ledger, _PURGE_HOURS, now - timedelta(days=_DAYS_OF_HOURS))
    _in_batches(ledger, _PURGE_FOLLOW_UPS, before)
    with ledger.changes():
        ledger.rows(_NOTHING_OPEN)
    return purged, aged


def _in_batches(ledger: Ledger, statement: str, before: datetime) -> int:
    """Each batch is a transaction of its own, so that the recorders of servers wait only briefly."""
    total = 0
    while True:
        with ledger.changes():
            rows = len(ledger.rows(statement, [before, _BATCH]))
        total += rows
        if rows < _BATCH:
            return total
