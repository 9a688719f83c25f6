"""Former versions, deleted documents and changed keys; the tables and the triggers that fill them are in SQL."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("edfi_api", "0001_initial"), ("references", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "versions.sql").read_text()),
        migrations.RunSQL((SQL / "tracking.sql").read_text()),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="ChangeConsumer",
                    fields=[
                        ("name", models.TextField(primary_key=True, serialize=False)),
                        ("change_version", models.BigIntegerField(default=0)),
                    ],
                    options={
                        "db_table": "change_consumer",
                    },
                ),
                migrations.CreateModel(
                    name="DeletedDocument",
                    fields=[
                        ("organization", models.BigIntegerField(null=True)),
                        ("student", models.TextField(null=True)),
                        ("contact", models.TextField(null=True)),
                        ("staff", models.TextField(null=True)),
                        ("namespace", models.TextField(null=True)),
                        ("opens_pathway", models.BooleanField(null=True)),
                        ("change_version", models.BigIntegerField(primary_key=True, serialize=False)),
                        ("document_uuid", models.UUIDField(verbose_name="id")),
                        ("natural_key", models.TextField()),
                        ("key_values", models.JSONField()),
                        (
                            "aliases",
                            django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None),
                        ),
                        ("body", models.JSONField(null=True)),
                        ("created_by", models.BigIntegerField(null=True)),
                        ("created_at", models.DateTimeField()),
                        ("last_change_version", models.BigIntegerField()),
                        ("last_operation", models.TextField()),
                        ("last_modified_by", models.BigIntegerField(null=True)),
                        ("last_modified_at", models.DateTimeField()),
                        ("deleted_by", models.BigIntegerField(null=True)),
                        ("deleted_at", models.DateTimeField()),
                        (
                            "resource_type",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="edfi_api.resourcetype",
                            ),
                        ),
                        ("deleted_by_user", models.TextField(null=True)),
                    ],
                    options={
                        "db_table": "deleted_document",
                    },
                ),
                migrations.CreateModel(
                    name="KeyChange",
                    fields=[
                        ("organization", models.BigIntegerField(null=True)),
                        ("student", models.TextField(null=True)),
                        ("contact", models.TextField(null=True)),
                        ("staff", models.TextField(null=True)),
                        ("namespace", models.TextField(null=True)),
                        ("opens_pathway", models.BooleanField(null=True)),
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "resource_type_id",
                                "change_version",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("change_version", models.BigIntegerField()),
                        ("document_uuid", models.UUIDField()),
                        ("old_key_values", models.JSONField()),
                        ("new_key_values", models.JSONField()),
                        (
                            "resource_type",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="edfi_api.resourcetype",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "key_change",
                    },
                ),
                migrations.CreateModel(
                    name="KeyField",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "resource_type_id",
                                "name",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("name", models.TextField()),
                        ("path", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                        ("ignores_case", models.BooleanField()),
                        (
                            "resource_type",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="edfi_api.resourcetype",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "key_field",
                    },
                ),
                migrations.CreateModel(
                    name="SupersededDocument",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "resource_type_id",
                                "change_version",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("change_version", models.BigIntegerField()),
                        ("operation", models.TextField()),
                        ("document_uuid", models.UUIDField()),
                        ("natural_key", models.TextField()),
                        ("body", models.JSONField()),
                        ("last_modified_by", models.BigIntegerField(null=True)),
                        ("last_modified_at", models.DateTimeField()),
                        ("superseded_at", models.DateTimeField()),
                        (
                            "resource_type",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="edfi_api.resourcetype",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "superseded_document",
                    },
                ),
                migrations.CreateModel(
                    name="PurgeRun",
                    fields=[
                        ("name", models.TextField(primary_key=True, serialize=False)),
                        ("finished_at", models.DateTimeField()),
                    ],
                    options={
                        "db_table": "purge_run",
                    },
                ),
            ]
        ),
    ]
