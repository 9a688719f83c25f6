"""Purges the history of documents after the retention time.

Deletes superseded versions and the bodies of deleted documents. The deletes themselves are kept, with their key values,
since clients that synchronise late would otherwise keep these documents for ever. Changes that a consumer of the change
stream has not received yet are kept longer.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from edfi_api.core.storage.driver.batches import in_batches
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
        superseded=in_batches(_PURGE_SUPERSEDED, parameters, using),
        bodies=in_batches(_PURGE_BODIES, parameters, using),
        slowest=slowest,
    )
    PurgeRun.objects.using(using).update_or_create(name="changes", defaults={"finished_at": timezone.now()})
    return purged
