"""Figures that take long to count, for all processes."""

from django.db import models


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
