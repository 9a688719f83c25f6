"""What is done about causes of refusals."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("refusals", "0003_rules"),
    ]

    operations = [
        migrations.CreateModel(
            name="CauseFollowUp",
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
                ("client", models.BigIntegerField()),
                ("data_store", models.BigIntegerField()),
                ("direction", models.TextField()),
                ("cause", models.UUIDField()),
            ],
            options={
                "verbose_name": "state of a cause",
                "db_table": "refusal_follow_up",
                "default_permissions": ("add",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "sent", "waiting", "dismissed"])),
                        name="causefollowup_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "dismissed"), ("until__isnull", False)),
                            models.Q(models.Q(("state", "dismissed"), _negated=True), ("until", None)),
                            _connector="OR",
                        ),
                        name="causefollowup_until",
                    ),
                    models.UniqueConstraint(
                        fields=("client", "cause", "data_store", "direction", "number"),
                        name="refusal_follow_up_of_cause",
                    ),
                ],
            },
        ),
    ]
