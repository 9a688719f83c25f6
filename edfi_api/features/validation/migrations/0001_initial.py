"""Rules over stored documents, their runs and results; the tables are in SQL."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("edfi_api", "0001_initial"), ("change_queries", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "rules.sql").read_text()),
        migrations.RunSQL((SQL / "results.sql").read_text()),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="ValidationRun",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("run_uuid", models.UUIDField(unique=True, verbose_name="id")),
                        ("run_identifier", models.TextField(unique=True)),
                        ("host", models.TextField()),
                        ("started_by", models.TextField()),
                        ("started_at", models.DateTimeField()),
                        ("finished_at", models.DateTimeField(null=True)),
                        ("status", models.TextField()),
                        ("change_version", models.BigIntegerField()),
                    ],
                    options={
                        "verbose_name": "validation run",
                        "db_table": "validation_run",
                    },
                ),
                migrations.CreateModel(
                    name="ValidationRule",
                    fields=[
                        ("id", models.AutoField(primary_key=True, serialize=False)),
                        ("rule_uuid", models.UUIDField(unique=True, verbose_name="id")),
                        ("source", models.TextField()),
                        ("identifier", models.TextField()),
                        ("version", models.TextField()),
                        ("digest", models.TextField()),
                        ("file", models.TextField()),
                        ("language", models.TextField()),
                        ("resource", models.TextField()),
                        ("severity", models.TextField()),
                        ("category", models.TextField()),
                        ("short_description", models.TextField()),
                        ("description", models.TextField()),
                        ("help_url", models.TextField()),
                        ("external_id", models.TextField()),
                        ("logic", models.TextField()),
                        ("is_active", models.BooleanField()),
                        (
                            "is_switched_off",
                            models.BooleanField(
                                default=False,
                                help_text="The next run leaves the rule out, and resolves its results.",
                                verbose_name="switched off",
                            ),
                        ),
                        ("declared_parameters", models.JSONField(default=dict)),
                        (
                            "parameters",
                            models.JSONField(
                                blank=True,
                                default=dict,
                                help_text='Texts in place of the defaults, by name: {"days": "30"}.',
                            ),
                        ),
                        ("published_version", models.BigIntegerField(null=True)),
                        ("published_run", models.BigIntegerField(null=True)),
                        ("retired_at", models.DateTimeField(null=True, verbose_name="left out since")),
                        ("modified_at", models.DateTimeField()),
                        (
                            "is_switched_on",
                            models.BooleanField(
                                default=False,
                                help_text="The next run has the rule, although its file says that it is inactive.",
                                verbose_name="switched on",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "validation rule",
                        "db_table": "validation_rule",
                        "unique_together": {("source", "identifier")},
                    },
                ),
                migrations.CreateModel(
                    name="ValidationResult",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("result_uuid", models.UUIDField(unique=True, verbose_name="id")),
                        ("result_key", models.UUIDField()),
                        ("episode", models.IntegerField()),
                        ("document_uuid", models.UUIDField(null=True)),
                        ("resource_type_id", models.SmallIntegerField(null=True)),
                        ("natural_key", models.TextField(null=True)),
                        ("organization", models.BigIntegerField(null=True)),
                        ("student", models.TextField(null=True)),
                        ("staff", models.TextField(null=True)),
                        ("contact", models.TextField(null=True)),
                        ("namespace", models.TextField(null=True)),
                        ("key", models.TextField()),
                        ("message", models.TextField()),
                        ("context", models.JSONField()),
                        ("first_run", models.BigIntegerField()),
                        ("appeared_at", models.DateTimeField()),
                        ("resolved_run", models.BigIntegerField(null=True)),
                        ("resolved_at", models.DateTimeField(null=True)),
                        ("resolution", models.TextField(null=True)),
                        ("validation_version", models.BigIntegerField()),
                        (
                            "rule",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="results",
                                to="validation.validationrule",
                            ),
                        ),
                        (
                            "other_documents",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.UUIDField(), default=list, size=None
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "validation result",
                        "db_table": "validation_result",
                    },
                ),
                migrations.CreateModel(
                    name="ValidationRunRule",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "run", "rule", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        ("outcome", models.TextField()),
                        ("is_full", models.BooleanField(verbose_name="full")),
                        ("reason", models.TextField()),
                        ("seconds", models.FloatField()),
                        ("found", models.BigIntegerField()),
                        ("unplaced", models.BigIntegerField()),
                        ("appeared", models.BigIntegerField()),
                        ("changed", models.BigIntegerField()),
                        ("resolved", models.BigIntegerField()),
                        (
                            "rule",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="runs",
                                to="validation.validationrule",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="rules",
                                to="validation.validationrun",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "validation_run_rule",
                    },
                ),
            ]
        ),
    ]
