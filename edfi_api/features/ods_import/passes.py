"""The passes over a source: which one begins, what it reads, and which versions this server gives in the meantime.

Versions of the source are kept, so those that this server gives have to be others, or a document that was changed here
could not be distinguished from an imported one. Therefore our sequence goes on after those of the source, with some
room for what is written there while the passes last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connections, transaction
from django.utils import timezone
from psycopg.types.range import Int8Range

from edfi_api.features.ods_import.models import OdsPass
from edfi_api.features.ods_import.ods_source import NoEarlierPass

# How many versions the source may give until the next pass begins before ours have to move on.
ROOM = 100_000
# A source gives a version before the commit that makes it visible.
MARGIN = 10_000

_LAST_VERSION = "SELECT coalesce(pg_sequence_last_value('change_version'), 0)"
# Even, as all that it gives.
_GO_ON_AFTER = "SELECT setval('change_version', %s::bigint + %s::bigint %% 2)"
_GIVEN_HERE = "SELECT coalesce(range_agg(versions_given_here), '{}')::text FROM ods_pass"


def begin(using: str, newest_version: int, *, since_last: bool, margin: int = MARGIN) -> OdsPass:
    """A new pass; one that was not finished goes on, and keeps what it has completed.

    `newest_version` is the source's. With `since_last` it reads what has changed since the last finished pass began,
    less a margin. Raises NoEarlierPass if there is none.
    """
    begun = planned(using, newest_version, since_last=since_last, margin=margin)
    with transaction.atomic(using):
        begun.versions_given_here = Int8Range(_go_on_after(using, newest_version), None, "(]")
        begun.save(using=using, force_insert=True)
    return begun


def planned(using: str, newest_version: int, *, since_last: bool, margin: int = MARGIN) -> OdsPass:
    """The pass that would begin. Raises NoEarlierPass."""
    passes = OdsPass.objects.using(using)
    finished = passes.filter(finished_at__isnull=False).order_by("-pk").first()
    unfinished = passes.filter(finished_at__isnull=True, pk__gt=finished.pk if finished else 0).order_by("-pk").first()
    if since_last and finished is None:
        raise NoEarlierPass
    since = max(finished.newest_version - margin, 0) if since_last and finished else None
    if unfinished is not None and unfinished.since == since:
        return OdsPass(since=since, newest_version=unfinished.newest_version, completed=unfinished.completed)
    return OdsPass(since=since, newest_version=newest_version)


def _go_on_after(using: str, newest_version: int) -> int:
    """Return the last version that was given here before this pass, and let ours go on after the source's."""
    with connections[using].cursor() as cursor:
        last = int(cursor.execute(_LAST_VERSION).fetchone()[0])
        cursor.execute(
            "UPDATE ods_pass SET versions_given_here = versions_given_here * int8range(NULL, %s, '(]')"
            " WHERE upper_inf(versions_given_here)",
            [last],
        )
        if last > newest_version:
            return last
        after = newest_version + ROOM
        return int(cursor.execute(_GO_ON_AFTER, [after, after]).fetchone()[0])


def versions_given_here(using: str) -> str:
    """Return the versions of all passes, as a multirange: documents that have one were changed here."""
    with connections[using].cursor() as cursor:
        return str(cursor.execute(_GIVEN_HERE).fetchone()[0])


def complete(begun: OdsPass, using: str, endpoints: Iterable[str]) -> None:
    """Record that these resources were read to their end."""
    begun.completed = [*begun.completed, *endpoints]
    begun.save(using=using, update_fields=["completed"])


def finish(begun: OdsPass, using: str) -> None:
    """Record that the pass has read everything."""
    begun.finished_at = timezone.now()
    begun.save(using=using, update_fields=["finished_at"])


def summary(begun: OdsPass) -> dict[str, Any]:
    """Return a summary for reports."""
    return {"number": begun.pk, "since": begun.since, "newestVersion": begun.newest_version}
