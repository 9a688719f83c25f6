"""Templates, uploaded tables with their loads, and what became of each row: in the admin database."""

import secrets
from typing import Any

from django.conf import settings
from django.db import models

from edfi_api.core.security.models import ApiClient


class TableTemplate(models.Model):
    """A kept template, of the JSON form of `template.Template`."""

    name = models.CharField(max_length=200, unique=True)
    resource = models.CharField(max_length=200, help_text="The path of the resource, such as /ed-fi/students.")
    content = models.JSONField()
    left_out = models.JSONField(default=list, blank=True, help_text="What was left out when it was imported.")
    created_by = models.CharField(max_length=160, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "table_template"
        verbose_name = "template of tables"
        verbose_name_plural = "templates of tables"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class LoadState(models.TextChoices):
    """The state of an uploaded table."""

    UPLOADED = "uploaded", "not loaded yet"
    QUEUED = "queued", "waiting"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "ended early"


def new_key() -> str:
    return secrets.token_urlsafe(12)


class TableLoad(models.Model):
    """An uploaded table, how it is mapped, and its last dry run or load. The content is deleted after the load, or a
    day after the upload; rows are in `TableRow`."""

    key = models.CharField(max_length=24, unique=True, default=new_key, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    file_name = models.CharField(max_length=200)
    content = models.BinaryField(null=True)
    sheet = models.CharField(max_length=100, blank=True)
    resource = models.CharField(max_length=200, blank=True)
    mapping = models.JSONField(null=True)
    client = models.ForeignKey(ApiClient, on_delete=models.SET_NULL, null=True, related_name="+")
    data_store = models.BigIntegerField(default=0, help_text="0 for the admin database.")
    state = models.CharField(max_length=10, choices=LoadState, default=LoadState.UPLOADED)
    is_dry_run = models.BooleanField(default=True)
    total = models.PositiveIntegerField(default=0)
    created = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    reported_at = models.DateTimeField(null=True, help_text="When the process that loads it was last heard of.")
    ended_at = models.DateTimeField(null=True)
    failure = models.TextField(blank=True)

    class Meta:
        db_table = "table_load"
        verbose_name = "table"
        verbose_name_plural = "tables"
        ordering = ["-id"]
        permissions = [("import_table", "Can load tables as any API client that the user may view")]
        indexes = [models.Index(fields=["created_at"], name="table_load_created_at")]

    def __str__(self) -> str:
        return self.file_name

    @property
    def done(self) -> int:
        """How many rows have a result."""
        return self.created + self.updated + self.unchanged + self.refused

    @property
    def audit_facts(self) -> dict[str, Any]:
        """What the audit log has of it."""
        return {"table": self.key, "resource": self.resource, "dry_run": self.is_dry_run}


class TableRow(models.Model):
    """The result of a row in the last dry run or load; `problems` are those of `mapping.Problem`, as lists."""

    load = models.ForeignKey(TableLoad, on_delete=models.CASCADE, related_name="rows")
    row = models.PositiveIntegerField()
    outcome = models.CharField(max_length=10)
    document = models.CharField(max_length=36, blank=True)
    problems = models.JSONField(default=list)

    class Meta:
        db_table = "table_row"
        constraints = [models.UniqueConstraint(fields=["load", "row"], name="table_row_of_load")]

    def __str__(self) -> str:
        return f"{self.row}: {self.outcome}"
