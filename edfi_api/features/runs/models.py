"""What clients have done, by minute."""

from django.db import models


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
