"""What the front page of the admin says of old versions and deleted documents in a database."""

from collections.abc import Iterator
from datetime import timedelta

from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from edfi_api.features.changes.change_queries.models import PurgeRun
from edfi_api.web.admin_kit.status_lines import StatusLine, shown_with, span

# Housekeeping runs once a day.
_LONGEST_WITHOUT_PURGE = timedelta(days=2)


@shown_with("edfi_api.view_document")
def last_purge(using: str) -> Iterator[StatusLine]:
    last = PurgeRun.objects.using(using).order_by("-finished_at").first()
    if last is None:
        is_due = _is_older_than(_LONGEST_WITHOUT_PURGE, using)
        yield StatusLine("Last purge", "never: see run_schedule" if is_due else "not yet due", is_due)
        return
    age = timezone.now() - last.finished_at
    yield StatusLine("Last purge", f"{span(age)} ago", age > _LONGEST_WITHOUT_PURGE)


def _is_older_than(age: timedelta, using: str) -> bool:
    """Whether the database was made before then."""
    first = MigrationRecorder(connections[using]).migration_qs.order_by("applied").first()
    return first is None or timezone.now() - first.applied > age
