"""The state of the server on the admin's front page: a line for each thing that an administrator has to know of.

Each line takes a query or two, and is shown to users who may view what it is about.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection, connections
from django.db.models import Sum
from django.utils import timezone

from edfi_api.common.contributions import contributions
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.served import current_surface
from edfi_api.features.refusals.models import SubmissionHour
from edfi_api.site.admin_site import navigation
from edfi_api.site.schedule.models import CommandOutcome, of_this_schedule
from edfi_api.version import VERSION
from edfi_api.web.admin_kit.lines import StatusLine, is_shown_to, shown_with, span

_OPERATES = "data_stores.view_datastore"
# From this share of the connections that PostgreSQL allows, it may soon refuse some.
_MANY_CONNECTIONS = 0.8
_CONNECTIONS = """
SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
       current_setting('max_connections')::int
"""
_ARCHIVE = """
SELECT current_setting('archive_mode'), last_archived_time, last_failed_time,
       coalesce(last_failed_time > last_archived_time, last_failed_time IS NOT NULL)
  FROM pg_stat_archiver
"""


def lines(user: AbstractBaseUser | AnonymousUser) -> list[StatusLine]:
    """Return what the user may see of the server."""
    found = (*contributions("status_lines"), _versions, _writes, _data_stores, _schedule)
    return [line for each in found if is_shown_to(user, each) for line in each()]


def may_see_a_database(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether the user may see anything that is in a database with documents."""
    may_see_lines = (is_shown_to(user, each) for each in _of_databases())
    return user.has_perm(navigation.SEES_DATA) or any(may_see_lines)  # type: ignore[union-attr]


def lines_of(using: str, user: AbstractBaseUser | AnonymousUser) -> list[StatusLine]:
    """Return what the user may see of the changes in a database, and of its housekeeping."""
    return [line for each in _of_databases() if is_shown_to(user, each) for line in each(using)]


def _of_databases() -> list[Callable[[str], Iterator[StatusLine]]]:
    return [*contributions("status_lines_of_databases"), _size, _connections, _archive]


@shown_with(_OPERATES)
def _versions() -> Iterator[StatusLine]:
    number = connection.pg_version  # type: ignore[attr-defined]  # Of Django's PostgreSQL.
    standard = ", ".join(f"{each.name} {each.version}" for each in current_surface().projects)
    yield StatusLine("Versions", f"Meadowlark {VERSION}, PostgreSQL {number // 10_000}.{number % 10_000}, {standard}")


@shown_with(_OPERATES)
def _writes() -> Iterator[StatusLine]:
    since = timezone.now() - timedelta(hours=24)
    found = SubmissionHour.objects.filter(hour__gt=since).aggregate(accepted=Sum("accepted"), refused=Sum("refused"))
    accepted, refused = (int(found[name] or 0) for name in ("accepted", "refused"))
    text = f"{accepted:,} accepted, {refused:,} refused"
    yield StatusLine("Writes, 24 hours", text)


@shown_with(_OPERATES)
def _size(using: str) -> Iterator[StatusLine]:
    with connections[using].cursor() as cursor:
        [(size,)] = cursor.execute("SELECT pg_size_pretty(pg_database_size(current_database()))")
    yield StatusLine("Size of the database", size)


@shown_with(_OPERATES)
def _connections(using: str) -> Iterator[StatusLine]:
    with connections[using].cursor() as cursor:
        [(used, most)] = cursor.execute(_CONNECTIONS)
    yield StatusLine("Connections", f"{used} of {most}", used > most * _MANY_CONNECTIONS)


@shown_with(_OPERATES)
def _archive(using: str) -> Iterator[StatusLine]:
    """Yield whether PostgreSQL archives its log: backups by other programs leave no trace in the database."""
    with connections[using].cursor() as cursor:
        [(mode, archived_at, failed_at, has_failed)] = cursor.execute(_ARCHIVE)
    if mode == "off":
        text = "PostgreSQL archives no WAL; a dump leaves no trace here"
    elif has_failed:
        text = f"archiving WAL failed {span(timezone.now() - failed_at)} ago"
    else:
        text = f"WAL archived {span(timezone.now() - archived_at)} ago" if archived_at else "no WAL archived yet"
    yield StatusLine("Backup", text, has_failed)


@shown_with(_OPERATES)
def _data_stores() -> Iterator[StatusLine]:
    found = Counter(DataStore.objects.order_by("state").values_list("state", flat=True))
    if found:
        text = ", ".join(f"{number} {state}" for state, number in found.items())
        yield StatusLine("Data stores", text, any(state != State.ONLINE for state in found))


@shown_with(_OPERATES)
def _schedule() -> Iterator[StatusLine]:
    entries = {str(each): each for each in settings.SCHEDULE}
    now = timezone.now()
    for row in of_this_schedule():
        due_at = entries[row.entry].due_after(row.claimed_at)
        due = f"due in {span(due_at - now)}" if due_at > now else "due now"
        text = f"{row.outcome} {span(now - row.ended_at)} ago, {due}" if row.ended_at else due
        yield StatusLine(f"Scheduled {row.entry}", text, row.outcome == CommandOutcome.FAILED)
