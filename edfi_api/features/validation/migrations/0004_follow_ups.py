"""What is done about a rule that finds something at an organization."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("validation", "0003_dismissals"),
    ]

    operations = [
        migrations.CreateModel(
            name="RuleFollowUp",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("number", models.IntegerField()),
                (
                    "state",
                    models.TextField(
                        choices=[
                            ("open", "open"),
                            ("sent", "sent to the vendor"),
                            ("waiting", "waiting"),
                            ("dismissed", "dismissed until a day"),
                        ]
                    ),
                ),
                ("until", models.DateField(null=True)),
                ("note", models.TextField()),
                ("username", models.TextField()),
                ("set_at", models.DateTimeField(auto_now_add=True)),
                ("organization", models.BigIntegerField()),
                (
                    "rule",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="follow_ups",
                        to="validation.validationrule",
                    ),
                ),
            ],
            options={
                "verbose_name": "state of a rule at an organization",
                "db_table": "validation_follow_up",
                "default_permissions": ("add",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "sent", "waiting", "dismissed"])),
                        name="rulefollowup_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "dismissed"), ("until__isnull", False)),
                            models.Q(models.Q(("state", "dismissed"), _negated=True), ("until", None)),
                            _connector="OR",
                        ),
                        name="rulefollowup_until",
                    ),
                    models.UniqueConstraint(
                        fields=("rule", "organization", "number"), name="validation_follow_up_of_rule"
                    ),
                ],
            },
        ),
    ]
