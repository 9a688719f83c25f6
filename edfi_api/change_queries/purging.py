"""Forgetting what documents were, when the time is over for which it is kept.

Superseded versions go, and the bodies of deleted documents; that these were deleted stays, with their key values, or
clients that come late would keep them for ever. What a consumer of the stream of changes has not seen is kept longer.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.change_queries.models import ChangeConsumer

# Each batch is a transaction of its own, so nobody has to wait long and a killed purge has done what it did.
_BATCH = 5_000

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
class Purged:
    """What went, and the consumer that has seen least of what is left; None if there is no consumer."""

    superseded: int
    bodies: int
    slowest: ChangeConsumer | None


def purge(before: datetime, using: str = DEFAULT_DB_ALIAS) -> Purged:
    """Forget what was superseded or deleted before a moment, as far as every consumer has seen it."""
    slowest = ChangeConsumer.objects.using(using).order_by("change_version").first()
    seen = slowest.change_version if slowest else None
    parameters = {"before": before, "seen": seen, "batch": _BATCH}
    return Purged(
        superseded=_in_batches(_PURGE_SUPERSEDED, parameters, using),
        bodies=_in_batches(_PURGE_BODIES, parameters, using),
        slowest=slowest,
    )


def _in_batches(statement: str, parameters: dict[str, object], using: str) -> int:
    purged = 0
    with connections[using].cursor() as cursor:
        while True:
            cursor.execute(statement, parameters)
            purged += cursor.rowcount
            if cursor.rowcount < _BATCH:
                return purged
