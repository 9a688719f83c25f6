"""Documents and resource types; the tables themselves stand in SQL."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0001_documents.sql").read_text(), (SQL / "0001_documents.reverse.sql").read_text()
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name="ResourceType",
                    fields=[
                        ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                        ("project", models.TextField()),
                        ("name", models.TextField()),
                        ("endpoint", models.TextField()),
                    ],
                    options={"db_table": "resource_type", "unique_together": {("project", "name")}},
                ),
                migrations.CreateModel(
                    name="Document",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("document_uuid", models.UUIDField(editable=False, unique=True, verbose_name="id")),
                        ("natural_key", models.TextField()),
                        ("body", models.JSONField()),
                        (
                            "linked_types",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.SmallIntegerField(), null=True, size=None
                            ),
                        ),
                        (
                            "linked_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.UUIDField(), null=True, size=None
                            ),
                        ),
                        ("created_by", models.BigIntegerField(null=True)),
                        ("created_at", models.DateTimeField()),
                        ("last_modified_at", models.DateTimeField()),
                        ("last_modified_by", models.BigIntegerField(null=True)),
                        ("change_version", models.BigIntegerField()),
                        ("operation", models.TextField()),
                        (
                            "resource_type",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                to="edfi_api.resourcetype",
                            ),
                        ),
                    ],
                    options={"db_table": "document"},
                ),
            ],
        )
    ]
