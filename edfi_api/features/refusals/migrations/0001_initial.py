"""The ledger of refused writes; the tables are in SQL."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.RunSQL((SQL / "refusals.sql").read_text()),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Refusal",
                    fields=[
                        ("id", models.UUIDField(primary_key=True, serialize=False)),
                        ("client", models.BigIntegerField()),
                        ("data_store", models.BigIntegerField()),
                        ("resource", models.TextField()),
                        ("subject", models.UUIDField()),
                        ("has_identity", models.BooleanField()),
                        ("natural_key", models.TextField(null=True)),
                        ("document_uuid", models.UUIDField(null=True)),
                        ("organization", models.BigIntegerField(null=True)),
                        ("operation", models.TextField()),
                        ("is_batch", models.BooleanField()),
                        ("is_summary", models.BooleanField()),
                        ("status", models.SmallIntegerField()),
                        ("problem", models.TextField()),
                        ("title", models.TextField()),
                        ("paths", models.JSONField()),
                        ("errors", models.JSONField()),
                        ("cause", models.UUIDField()),
                        ("cause_text", models.TextField()),
                        ("awaited_resource", models.TextField()),
                        ("awaited", models.UUIDField(null=True)),
                        ("cause_gone", models.BooleanField(default=False)),
                        ("correlation_id", models.TextField()),
                        ("first_at", models.DateTimeField()),
                        ("last_at", models.DateTimeField()),
                        ("count", models.BigIntegerField()),
                        ("resolved_at", models.DateTimeField(null=True)),
                        ("resolution", models.TextField(null=True)),
                        ("sequence", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "refusal",
                        "permissions": [
                            ("view_refusal_keys", "Can view natural keys and messages of refusals, and export them")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="OpenRefusals",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "client",
                                "data_store",
                                "resource",
                                "problem",
                                "awaited_resource",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("client", models.BigIntegerField()),
                        ("data_store", models.BigIntegerField()),
                        ("resource", models.TextField()),
                        ("problem", models.TextField()),
                        ("awaited_resource", models.TextField()),
                        ("entries", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "open_refusals",
                    },
                ),
                migrations.CreateModel(
                    name="SubmissionHour",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "hour",
                                "client",
                                "data_store",
                                "resource",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("client", models.BigIntegerField()),
                        ("data_store", models.BigIntegerField()),
                        ("resource", models.TextField()),
                        ("hour", models.DateTimeField()),
                        ("accepted", models.BigIntegerField()),
                        ("refused", models.BigIntegerField()),
                        ("last_accepted_at", models.DateTimeField(null=True)),
                        ("last_refused_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "db_table": "submission_hour",
                    },
                ),
            ]
        ),
    ]
