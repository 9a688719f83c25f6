"""Rules, runs and results of validation, for the admin. `sql/rules.sql` and `sql/results.sql` create the tables."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from edfi_api.web.admin_kit.follow_up import FollowUp


class ValidationRule(models.Model):
    """A rule of a file, of any run."""

    id = models.AutoField(primary_key=True)
    rule_uuid = models.UUIDField("id", unique=True)
    source = models.TextField()
    identifier = models.TextField()
    version = models.TextField()
    digest = models.TextField()
    file = models.TextField()
    language = models.TextField()
    resource = models.TextField()
    severity = models.TextField()
    category = models.TextField()
    short_description = models.TextField()
    description = models.TextField()
    help_url = models.TextField()
    external_id = models.TextField()
    logic = models.TextField()
    is_active = models.BooleanField()
    is_switched_off = models.BooleanField(
        "switched off", default=False, help_text="The next run leaves the rule out, and resolves its results."
    )
    is_switched_on = models.BooleanField(
        "switched on",
        default=False,
        help_text="The next run has the rule, although its file says that it is inactive.",
    )
    declared_parameters = models.JSONField(default=dict)
    parameters = models.JSONField(
        default=dict, blank=True, help_text='Texts in place of the defaults, by name: {"days": "30"}.'
    )
    published_version = models.BigIntegerField(null=True)
    published_run = models.BigIntegerField(null=True)
    retired_at = models.DateTimeField("left out since", null=True)
    modified_at = models.DateTimeField()

    class Meta:
        db_table = "validation_rule"
        verbose_name = "validation rule"
        unique_together = [("source", "identifier")]

    def __str__(self) -> str:
        return f"{self.source}/{self.identifier}"

    @property
    def audit_facts(self) -> dict[str, object]:
        """Identifies the rule in the audit log."""
        return {"rule": str(self)}


class ValidationRun(models.Model):
    """A run of rules."""

    id = models.BigAutoField(primary_key=True)
    run_uuid = models.UUIDField("id", unique=True)
    run_identifier = models.TextField(unique=True)
    host = models.TextField()
    started_by = models.TextField()
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    status = models.TextField()
    change_version = models.BigIntegerField()

    class Meta:
        db_table = "validation_run"
        verbose_name = "validation run"

    def __str__(self) -> str:
        return self.run_identifier


class ValidationRunRule(models.Model):
    """The part of a run for one rule."""

    pk = models.CompositePrimaryKey("run", "rule")
    run = models.ForeignKey(ValidationRun, on_delete=models.CASCADE, related_name="rules", db_constraint=False)
    rule = models.ForeignKey(ValidationRule, on_delete=models.DO_NOTHING, related_name="runs", db_constraint=False)
    outcome = models.TextField()
    is_full = models.BooleanField("full")
    reason = models.TextField()
    seconds = models.FloatField()
    found = models.BigIntegerField()
    unplaced = models.BigIntegerField()
    appeared = models.BigIntegerField()
    changed = models.BigIntegerField()
    resolved = models.BigIntegerField()

    class Meta:
        db_table = "validation_run_rule"

    def __str__(self) -> str:
        return f"{self.run_id}: {self.rule_id}"


class ValidationResult(models.Model):
    """A violation, from the first run that found it to the first that did not."""

    id = models.BigAutoField(primary_key=True)
    result_uuid = models.UUIDField("id", unique=True)
    result_key = models.UUIDField()
    episode = models.IntegerField()
    rule = models.ForeignKey(ValidationRule, on_delete=models.DO_NOTHING, related_name="results", db_constraint=False)
    document_uuid = models.UUIDField(null=True)
    resource_type_id = models.SmallIntegerField(null=True)
    natural_key = models.TextField(null=True)
    other_documents = ArrayField(models.UUIDField(), default=list)
    organization = models.BigIntegerField(null=True)
    student = models.TextField(null=True)
    staff = models.TextField(null=True)
    contact = models.TextField(null=True)
    namespace = models.TextField(null=True)
    key = models.TextField()
    message = models.TextField()
    context = models.JSONField()
    first_run = models.BigIntegerField()
    appeared_at = models.DateTimeField()
    resolved_run = models.BigIntegerField(null=True)
    resolved_at = models.DateTimeField(null=True)
    resolution = models.TextField(null=True)
    validation_version = models.BigIntegerField()

    class Meta:
        db_table = "validation_result"
        verbose_name = "validation result"

    def __str__(self) -> str:
        return f"{self.result_key.hex}-{self.episode}"


class ValidationDismissal(models.Model):
    """A violation that a user has looked at and accepts until a day; it applies to all episodes of the violation."""

    id = models.BigAutoField(primary_key=True)
    result_key = models.UUIDField(db_index=True)
    reason = models.TextField()
    until = models.DateField("until, inclusive")
    username = models.TextField()
    dismissed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "validation_dismissal"
        verbose_name = "dismissal"

    def __str__(self) -> str:
        return f"{self.result_key.hex} until {self.until}"


class RuleFollowUp(FollowUp):
    """A state of a rule that finds something at an organization, with what is done about it; 0 stands for
    results without one."""

    rule = models.ForeignKey(
        ValidationRule, on_delete=models.DO_NOTHING, related_name="follow_ups", db_constraint=False, db_index=False
    )
    organization = models.BigIntegerField()

    class Meta(FollowUp.Meta):
        db_table = "validation_follow_up"
        verbose_name = "state of a rule at an organization"
        constraints = [
            *FollowUp.Meta.constraints,
            models.UniqueConstraint(fields=["rule", "organization", "number"], name="validation_follow_up_of_rule"),
        ]

    def __str__(self) -> str:
        return f"{self.rule_id} at {self.organization}: {self.state}"
