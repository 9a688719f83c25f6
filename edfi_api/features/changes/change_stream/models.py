"""Dead letters: events for which a handler has failed. The table is created by `sql/dead_letters.sql`."""

from typing import Self

from django.db import DEFAULT_DB_ALIAS, models
from django.utils import timezone

from edfi_api.features.changes.change_stream.log import Event


class DeadLetter(models.Model):
    """A change and the handler that failed for it; `change` is its line of JSON."""

    id = models.BigAutoField(primary_key=True)
    handler = models.TextField()
    change_version = models.BigIntegerField()
    resource = models.TextField()
    natural_key = models.TextField()
    change = models.TextField()
    error = models.TextField()
    attempts = models.IntegerField()
    failed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "dead_letter"

    def __str__(self) -> str:
        return f"{self.handler}: {self.resource}, change {self.change_version}"

    @classmethod
    def keep(cls, handler: str, change: Event, error: str, attempts: int, using: str) -> Self:
        """Create or update the dead letter: one per handler and change, even if old changes are delivered again."""
        letter, _ = cls.objects.using(using).update_or_create(
            handler=handler,
            change_version=change.version,
            defaults={
                "resource": change.resource,
                "natural_key": change.natural_key or "",
                "change": change.line().decode(),
                "error": error,
                "attempts": attempts,
                "failed_at": timezone.now(),
            },
        )
        return letter

    @classmethod
    def numbers(cls, using: str = DEFAULT_DB_ALIAS) -> dict[str, int]:
        """Handler → number of its dead letters."""
        counted = cls.objects.using(using).values_list("handler").annotate(models.Count("pk"))
        return dict(counted.order_by("handler"))

    def record_failure(self, error: str) -> None:
        """Record one more failed attempt."""
        self.error, self.attempts, self.failed_at = error, self.attempts + 1, timezone.now()
        self.save(update_fields=["error", "attempts", "failed_at"])
