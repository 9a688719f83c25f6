"""The readers of SQL views with a row filter. The table is created by `sql/sql_views.sql`."""

from django.db import models


class SqlReader(models.Model):
    """An education organization whose rows, and those of all below it, a role sees; without one, everything.

    Matters only after `create_sql_views --row-filter`.
    """

    id = models.BigAutoField(primary_key=True)
    role = models.CharField(max_length=63, help_text="A role of PostgreSQL.")
    organization = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="The id of an education organization, with all below it; empty: everything.",
    )

    class Meta:
        db_table = "sql_reader"
        verbose_name = "reader of SQL views"
        verbose_name_plural = "readers of SQL views"

    def __str__(self) -> str:
        return f"{self.role}: {'everything' if self.organization is None else self.organization}"
