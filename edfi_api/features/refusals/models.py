"""The tables of the ledger. `sql/refusals.sql` creates them; only `ledger` writes entries."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from edfi_api.web.admin_kit.follow_up import FollowUp
from edfi_api.web.write_recorder import ACCEPTED_WITH_WARNINGS

# What this server received, and what a connection sent to another one, which has refused it.
RECEIVED, SENT = "received", "sent"


def of_data_store(rows: "models.QuerySet[Any]", data_store: int | None) -> "models.QuerySet[Any]":
    """Return the rows of a data store, by its number in the ledger; all of them without one."""
    return rows if data_store is None else rows.filter(data_store=data_store)


class Refusal(models.Model):
    """One problem of one document of a client, with all its occurrences until it is resolved.

    `rules` are the custom rules that refused it. If they warned only, the document was accepted, as its status says.
    """

    id = models.UUIDField(primary_key=True)
    client = models.BigIntegerField()
    data_store = models.BigIntegerField()
    direction = models.TextField(choices=[(each, each) for each in (RECEIVED, SENT)], default=RECEIVED)
    resource = models.TextField()
    subject = models.UUIDField()
    has_identity = models.BooleanField()
    natural_key = models.TextField(null=True)
    document_uuid = models.UUIDField(null=True)
    organization = models.BigIntegerField(null=True)
    operation = models.TextField()
    is_batch = models.BooleanField()
    is_summary = models.BooleanField()
    status = models.SmallIntegerField()
    problem = models.TextField()
    title = models.TextField()
    paths = models.JSONField()
    errors = models.JSONField()
    hints = models.JSONField(default=list)
    cause = models.UUIDField()
    cause_text = models.TextField()
    awaited_resource = models.TextField()
    awaited = models.UUIDField(null=True)
    cause_gone = models.BooleanField(default=False)
    correlation_id = models.TextField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    count = models.BigIntegerField()
    resolved_at = models.DateTimeField(null=True)
    resolution = models.TextField(null=True)
    sequence = models.BigIntegerField()
    rules = ArrayField(models.TextField(), default=list)

    class Meta:
        db_table = "refusal"
        permissions = [("view_refusal_keys", "Can view natural keys and messages of refusals, and export them")]

    def __str__(self) -> str:
        return f"{self.resource} {self.problem}"

    @property
    def is_warning(self) -> bool:
        return self.problem == ACCEPTED_WITH_WARNINGS

    @property
    def state(self) -> str:
        return "open" if self.resolved_at is None else "resolved"

    @property
    def audit_facts(self) -> dict[str, object]:
        """Identifies the entry in the audit log."""
        return {"refusal": self.id}


class OpenRefusals(models.Model):
    """The number of open entries of a client by resource, problem, name of the missing target, and direction."""

    pk = models.CompositePrimaryKey("client", "data_store", "resource", "problem", "awaited_resource", "direction")
    client = models.BigIntegerField()
    data_store = models.BigIntegerField()
    resource = models.TextField()
    problem = models.TextField()
    awaited_resource = models.TextField()
    direction = models.TextField(default=RECEIVED)
    entries = models.BigIntegerField()

    class Meta:
        db_table = "open_refusals"

    def __str__(self) -> str:
        return f"{self.resource} {self.problem}: {self.entries}"


class SubmissionHour(models.Model):
    """The writes of a client to a resource in an hour."""

    pk = models.CompositePrimaryKey("hour", "client", "data_store", "resource")
    client = models.BigIntegerField()
    data_store = models.BigIntegerField()
    resource = models.TextField()
    hour = models.DateTimeField()
    accepted = models.BigIntegerField()
    refused = models.BigIntegerField()
    last_accepted_at = models.DateTimeField(null=True)
    last_refused_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "submission_hour"

    def __str__(self) -> str:
        return f"{self.client} {self.resource} {self.hour}"


class CauseFollowUp(FollowUp):
    """A state of a cause of refusals of a client, with what is done about it."""

    client = models.BigIntegerField()
    data_store = models.BigIntegerField()
    direction = models.TextField()
    cause = models.UUIDField()

    class Meta(FollowUp.Meta):
        db_table = "refusal_follow_up"
        verbose_name = "state of a cause"
        constraints = [
            *FollowUp.Meta.constraints,
            models.UniqueConstraint(
                fields=["client", "cause", "data_store", "direction", "number"], name="refusal_follow_up_of_cause"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.client} {self.cause}: {self.state}"
