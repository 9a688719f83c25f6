"""Connections to other APIs, their state, and how far they are."""

from pathlib import Path

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("data_stores", "0001_initial"),
        ("security", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Connection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_by", models.TextField(db_default="", editable=False)),
                ("created_at", models.DateTimeField(editable=False, null=True)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
                (
                    "name",
                    models.CharField(
                        max_length=256,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[a-zA-Z0-9_-]+\\Z", "A name consists of letters, digits, '_' and '-'."
                            )
                        ],
                    ),
                ),
                ("direction", models.CharField(choices=[("pull", "Pull"), ("push", "Push")], max_length=4)),
                ("address", models.CharField(help_text="Of the other API: where its discovery is.", max_length=1000)),
                (
                    "token_address",
                    models.CharField(
                        blank=True, help_text="Where tokens come from, unless discovery says it.", max_length=1000
                    ),
                ),
                ("key", models.CharField(max_length=256)),
                ("secret", models.TextField(editable=False)),
                (
                    "scope",
                    models.BigIntegerField(
                        blank=True,
                        help_text="Id of the education organization to which tokens are limited.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "school_year",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="In the addresses of the other API.", null=True
                    ),
                ),
                (
                    "read_profile",
                    models.CharField(blank=True, help_text="API profile of what is read.", max_length=256),
                ),
                (
                    "write_profile",
                    models.CharField(blank=True, help_text="API profile of what is written.", max_length=256),
                ),
                (
                    "selection",
                    models.CharField(
                        choices=[
                            ("all", "all"),
                            ("include", "include"),
                            ("include-only", "include-only"),
                            ("exclude", "exclude"),
                            ("exclude-only", "exclude-only"),
                        ],
                        default="all",
                        help_text="include: the resources and all that they depend on; exclude: all but the resources and what depends on them; include-only and exclude-only: just these.",
                        max_length=12,
                    ),
                ),
                (
                    "resources",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=256),
                        blank=True,
                        default=list,
                        help_text="ed-fi/students, ed-fi/schools",
                        size=None,
                    ),
                ),
                ("with_descriptors", models.BooleanField(default=True)),
                (
                    "education_organization_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(validators=[django.core.validators.MinValueValidator(1)]),
                        blank=True,
                        default=list,
                        help_text="Only what a client of these organizations could read. What lies below them is included.",
                        size=None,
                    ),
                ),
                (
                    "descriptor_mapping",
                    models.TextField(
                        blank=True,
                        help_text="A line for each descriptor: its URI at the other API, a comma, its URI here.",
                    ),
                ),
                (
                    "is_enabled",
                    models.BooleanField(default=False, help_text="Followed by run_exchange.", verbose_name="enabled"),
                ),
                (
                    "api_client",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="connections", to="security.apiclient"
                    ),
                ),
                (
                    "data_store",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="connections",
                        to="data_stores.datastore",
                    ),
                ),
            ],
            options={
                "db_table": "exchange_connection",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="ExchangePosition",
            fields=[
                ("connection", models.BigIntegerField(primary_key=True, serialize=False)),
                ("version", models.BigIntegerField()),
                ("moved_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "exchange_position",
            },
        ),
        migrations.CreateModel(
            name="RemoteId",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "connection", "document_uuid", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("connection", models.BigIntegerField()),
                ("document_uuid", models.UUIDField()),
                ("remote_id", models.TextField()),
            ],
            options={
                "db_table": "exchange_remote_id",
            },
        ),
        migrations.CreateModel(
            name="WaitingDocument",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "connection",
                        "resource",
                        "remote_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("connection", models.BigIntegerField()),
                ("resource", models.TextField()),
                ("remote_id", models.TextField()),
                ("attempts", models.IntegerField(default=1)),
                ("due_at", models.DateTimeField()),
            ],
            options={
                "db_table": "exchange_waiting",
                "indexes": [models.Index(fields=["connection", "due_at"], name="exchange_waiting_due")],
            },
        ),
        migrations.CreateModel(
            name="ConnectionState",
            fields=[
                (
                    "connection",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="state",
                        serialize=False,
                        to="exchange.connection",
                    ),
                ),
                (
                    "phase",
                    models.CharField(
                        choices=[
                            ("idle", "Idle"),
                            ("running", "Running"),
                            ("waiting", "Waiting"),
                            ("failed", "Failed"),
                        ],
                        default="idle",
                        max_length=7,
                    ),
                ),
                ("since", models.DateTimeField()),
                ("reported_at", models.DateTimeField()),
                ("failure", models.TextField(blank=True)),
                ("position", models.BigIntegerField(null=True)),
                ("newest", models.BigIntegerField(null=True)),
                ("caught_up_at", models.DateTimeField(null=True)),
                ("accepted", models.BigIntegerField(default=0)),
                ("refused", models.BigIntegerField(default=0)),
                ("rate", models.FloatField(null=True)),
            ],
            options={
                "db_table": "exchange_state",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("phase__in", ["idle", "running", "waiting", "failed"])),
                        name="exchange_phase_is_known",
                    )
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="connection",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("name"), name="connection_once_in_any_case"
            ),
        ),
        migrations.AddConstraint(
            model_name="connection",
            constraint=models.CheckConstraint(
                condition=models.Q(("direction__in", ["pull", "push"])), name="connection_direction_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="connection",
            constraint=models.CheckConstraint(
                condition=models.Q(("selection__in", ["all", "include", "include-only", "exclude", "exclude-only"])),
                name="connection_selection_is_known",
            ),
        ),
        # Of a table of the control database only, as the router decides by the name of the model.
        migrations.RunSQL((SQL / "triggers.sql").read_text(), hints={"model_name": "connection"}),
    ]
