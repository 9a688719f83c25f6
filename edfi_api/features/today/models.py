"""Figures that take long to count, shared by all processes."""

from datetime import timedelta
from typing import Any, Self

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.utils import timezone

_FORGOTTEN_AFTER = timedelta(days=3)
_CLAIM = """
INSERT INTO counted_figure AS figure (name, seconds, claimed_until) VALUES (%(name)s, 0, now() + %(time)s)
    ON CONFLICT (name) DO UPDATE SET claimed_until = EXCLUDED.claimed_until WHERE figure.claimed_until < now()
RETURNING true
"""


class CountedFigure(models.Model):
    """A figure by the digest of its database and its key; none yet without `counted_at`, and one that took too long
    without `value`. Until `claimed_until` one process counts it."""

    name = models.TextField(primary_key=True)
    value = models.JSONField(null=True)
    counted_at = models.DateTimeField(null=True)
    seconds = models.FloatField()
    claimed_until = models.DateTimeField()

    class Meta:
        db_table = "counted_figure"
        default_permissions = ()

    def __str__(self) -> str:
        return self.name

    @classmethod
    def lately_counted(cls, name: str) -> Self | None:
        """Return the figure, unless it was counted too long ago to be shown."""
        return cls.objects.filter(name=name, counted_at__gt=timezone.now() - _FORGOTTEN_AFTER).first()

    @classmethod
    def claim(cls, name: str, time: timedelta) -> bool:
        """Return whether this process is the one that counts the figure. Another one may when the time is over."""
        values: dict[str, Any] = {"name": name, "time": time}
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(_CLAIM, values)
            return cursor.fetchone() is not None

    @classmethod
    def release(cls, name: str, **counted: Any) -> None:
        """End the claim of this process, and store the columns of what it has counted, if it has; delete figures that
        no one has counted for long."""
        now = timezone.now()
        cls.objects.filter(name=name).update(claimed_until=now, **counted)
        cls.objects.filter(claimed_until__lt=now - _FORGOTTEN_AFTER).delete()
