"""Superseded versions, key changes and deleted documents; tables and triggers stand in SQL."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("edfi_api", "0002_securables"), ("references", "0002_referrers_by_type")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0001_change_tracking.sql").read_text(),
                    (SQL / "0001_change_tracking.reverse.sql").read_text(),
                )
            ],
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
                        ("aliases", django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                        ("body", models.JSONField(null=True)),
                        ("created_by", models.BigIntegerField(null=True)),
                        ("created_at", models.DateTimeField()),
                        ("last_change_version", models.BigIntegerField()),
                        ("last_operation", models.TextField()),
                        ("last_modified_by", models.BigIntegerField(null=True)),
                        ("last_modified_at", models.DateTimeField()),
                        ("deleted_by", models.BigIntegerField(null=True)),
                        ("deleted_at", models.DateTimeField()),
                        ("resource_type", models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="edfi_api.resourcetype")),
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
                        ("pk", models.CompositePrimaryKey("resource_type_id", "change_version", blank=True, editable=False, primary_key=True, serialize=False)),
                        ("change_version", models.BigIntegerField()),
                        ("document_uuid", models.UUIDField()),
                        ("old_key_values", models.JSONField()),
                        ("new_key_values", models.JSONField()),
                        ("resource_type", models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="edfi_api.resourcetype")),
                    ],
                    options={
                        "db_table": "key_change",
                    },
                ),
                migrations.CreateModel(
                    name="KeyField",
                    fields=[
                        ("pk", models.CompositePrimaryKey("resource_type_id", "name", blank=True, editable=False, primary_key=True, serialize=False)),
                        ("name", models.TextField()),
                        ("path", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                        ("ignores_case", models.BooleanField()),
                        ("resource_type", models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="edfi_api.resourcetype")),
                    ],
                    options={
                        "db_table": "key_field",
                    },
                ),
                migrations.CreateModel(
                    name="SupersededDocument",
                    fields=[
                        ("pk", models.CompositePrimaryKey("resource_type_id", "change_version", blank=True, editable=False, primary_key=True, serialize=False)),
                        ("change_version", models.BigIntegerField()),
                        ("operation", models.TextField()),
                        ("document_uuid", models.UUIDField()),
                        ("natural_key", models.TextField()),
                        ("body", models.JSONField()),
                        ("last_modified_by", models.BigIntegerField(null=True)),
                        ("last_modified_at", models.DateTimeField()),
                        ("superseded_at", models.DateTimeField()),
                        ("resource_type", models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="edfi_api.resourcetype")),
                    ],
                    options={
                        "db_table": "superseded_document",
                    },
                ),
            ],
        )
    ]
