"""What became of the commands of the schedule."""

from django.conf import settings
from django.db import models


class CommandOutcome(models.TextChoices):
    """The outcome of a command."""

    DONE = "done", "done"
    FAILED = "failed", "failed"
    BUSY = "busy", "still running elsewhere"
    STOPPED = "stopped", "stopped"


class ScheduledCommand(models.Model):
    """An entry of the schedule of any host, as its last start left it."""

    entry = models.TextField(primary_key=True)
    # When it was last started or, before that, first seen. Whoever changes it starts the command, and no one else.
    claimed_at = models.DateTimeField()
    host = models.TextField(blank=True)
    ended_at = models.DateTimeField(null=True)
    outcome = models.TextField(blank=True, choices=CommandOutcome.choices)
    succeeded_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "scheduled_command"

    def __str__(self) -> str:
        return self.entry


def of_this_schedule() -> models.QuerySet[ScheduledCommand]:
    """The entries of the schedule of this host that a scheduler has seen, in alphabetical order."""
    return ScheduledCommand.objects.filter(entry__in=map(str, settings.SCHEDULE)).order_by("entry")
