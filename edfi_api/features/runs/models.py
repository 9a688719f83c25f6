"""What clients have done, by minute: after a week by the hour, and after the retention time not at all."""

from datetime import datetime, timedelta
from itertools import groupby
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, models, transaction
from django.utils import timezone

from edfi_api.common.conf import api_settings
from edfi_api.features.runs.counts import Counts

_DAYS_BY_MINUTE = 7
# The process of rows with the counts of an hour.
_OF_HOURS = UUID(int=0)


class RunMinute(models.Model):
    """What a client, by its key, did at a data store in a minute, as one process has counted it; `counts` is the JSON
    of `counts.Counts`. Rows that are older than a week have the counts of an hour."""

    pk = models.CompositePrimaryKey("client", "minute", "data_store", "process")
    client = models.TextField()
    minute = models.DateTimeField()
    # 0 for the admin database.
    data_store = models.BigIntegerField()
    process = models.UUIDField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    counts = models.JSONField()

    class Meta:
        db_table = "run_minute"

    def __str__(self) -> str:
        return f"{self.client} {self.minute}"


def purge() -> int:
    """Remove what is older than the retention time, and fold the minutes of older hours. Returns the rows removed."""
    now = timezone.now()
    removed, _ = RunMinute.objects.filter(minute__lt=now - timedelta(days=api_settings.RUN_DAYS)).delete()
    old = now - timedelta(days=_DAYS_BY_MINUTE)
    return removed + _fold(old.replace(minute=0, second=0, microsecond=0))


@transaction.atomic(using=DEFAULT_DB_ALIAS)
def _fold(before: datetime) -> int:
    removed = 0
    old = RunMinute.objects.filter(minute__lt=before).select_for_update().order_by("client", "data_store", "minute")
    for (client, data_store, hour), rows in groupby(old.iterator(chunk_size=500), _hour_of):
        several = list(rows)
        if [row.process for row in several] == [_OF_HOURS]:
            continue
        removed += RunMinute.objects.filter(pk__in=[row.pk for row in several]).delete()[0] - 1
        RunMinute.objects.create(
            client=client,
            data_store=data_store,
            minute=hour,
            process=_OF_HOURS,
            first_at=min(row.first_at for row in several),
            last_at=max(row.last_at for row in several),
            counts=Counts.total(Counts.of_json(row.counts) for row in several).as_json(),
        )
    return removed


def _hour_of(row: RunMinute) -> tuple[str, int, datetime]:
    return row.client, row.data_store, row.minute.replace(minute=0)
