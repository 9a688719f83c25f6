"""`manage.py purge_changes`

Deletes superseded versions and the bodies of deleted documents after the retention time. The deletes themselves are
kept, with their key values, since clients that synchronize late would otherwise keep these documents for ever. Changes
that a consumer of the change stream has not received yet are kept longer.
"""

from argparse import ArgumentParser
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from edfi_api.common.commands import add_database, add_retention
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.core.data_stores.data_store_command import DataStoreCommand
from edfi_api.core.storage.driver.execution import execute_in_batches
from edfi_api.features.changes.change_queries.models import DOCUMENTS, ChangeConsumer, PurgeRun

_PURGE_SUPERSEDED = """
DELETE FROM superseded_document
 WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM superseded_document
     WHERE superseded_at < %(before)s AND change_version <= coalesce(%(seen)s, change_version)
     LIMIT %(batch)s
 ))
"""

_PURGE_BODIES = """
UPDATE deleted_document SET body = NULL
 WHERE change_version = ANY (ARRAY(
    SELECT change_version FROM deleted_document
     WHERE body IS NOT NULL AND deleted_at < %(before)s AND change_version <= coalesce(%(seen)s, change_version)
     LIMIT %(batch)s
 ))
"""


class Command(DataStoreCommand):
    help = (
        "Deletes superseded versions and the bodies of deleted documents after the retention time, once every consumer "
        "of the change stream has received them. The deletes themselves stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_retention(parser, api_settings.CHANGE_RETENTION_DAYS)
        add_database(parser, "the database to purge")

    def handle(self, *args: Any, days: int, database: str, **options: Any) -> None:
        purged = purge(timezone.now() - timedelta(days=days), database)
        audit.log_change("changes purged", superseded=purged.superseded, bodies=purged.bodies, days=days, by="command")
        self.stdout.write(
            f"{counted(purged.superseded, 'superseded version')} and the bodies of "
            f"{counted(purged.bodies, 'deleted document')} purged"
        )
        if purged.slowest:
            consumer = purged.slowest
            self.stdout.write(f"kept: everything behind version {consumer.change_version}, for {consumer.name}")


@dataclass(frozen=True, slots=True)
class PurgedChanges:
    """The numbers of purged rows, and the consumer with the lowest position; None if there is no consumer."""

    superseded: int
    bodies: int
    slowest: ChangeConsumer | None


def purge(before: datetime, using: str = DEFAULT_DB_ALIAS) -> PurgedChanges:
    """Purge what was superseded or deleted before a time, as far as every consumer has received it."""
    slowest = ChangeConsumer.objects.using(using).filter(log=DOCUMENTS).order_by("change_version").first()
    seen = slowest.change_version if slowest else None
    parameters = {"before": before, "seen": seen}
    purged = PurgedChanges(
        superseded=execute_in_batches(_PURGE_SUPERSEDED, parameters, using),
        bodies=execute_in_batches(_PURGE_BODIES, parameters, using),
        slowest=slowest,
    )
    PurgeRun.objects.using(using).update_or_create(name="changes", defaults={"finished_at": timezone.now()})
    return purged
