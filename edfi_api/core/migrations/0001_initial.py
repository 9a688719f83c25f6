"""Documents, the hierarchy of organizations, and the documents that organizations reach; the tables are in SQL."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.RunSQL((SQL / "documents.sql").read_text()),
        migrations.RunSQL((SQL / "organization_closure.sql").read_text()),
        migrations.RunSQL((SQL / "reached_documents.sql").read_text()),
        migrations.RunSQL((SQL / "servers.sql").read_text()),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="ResourceType",
                    fields=[
                        ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                        ("project", models.TextField()),
                        ("name", models.TextField()),
                        ("endpoint", models.TextField()),
                    ],
                    options={
                        "db_table": "resource_type",
                        "unique_together": {("project", "name")},
                    },
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
                        ("organization", models.BigIntegerField(null=True)),
                        ("student", models.TextField(null=True)),
                        ("contact", models.TextField(null=True)),
                        ("staff", models.TextField(null=True)),
                        ("namespace", models.TextField(null=True)),
                        (
                            "hierarchy",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.BigIntegerField(), null=True, size=None
                            ),
                        ),
                        ("opens_pathway", models.BooleanField(null=True)),
                        ("is_person", models.BooleanField(null=True)),
                    ],
                    options={
                        "db_table": "document",
                    },
                ),
                migrations.CreateModel(
                    name="OrganizationClosure",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "ancestor_id",
                                "descendant_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("ancestor_id", models.BigIntegerField()),
                        ("descendant_id", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "organization_closure",
                    },
                ),
                migrations.CreateModel(
                    name="ReachedDocument",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "document_id",
                                "association_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("resource_type_id", models.SmallIntegerField()),
                        ("association_type_id", models.SmallIntegerField()),
                        ("organization", models.BigIntegerField()),
                        ("document_id", models.BigIntegerField()),
                        ("association_id", models.BigIntegerField()),
                        ("contact_association_id", models.BigIntegerField(null=True)),
                    ],
                    options={
                        "db_table": "reached_document",
                    },
                ),
            ]
        ),
    ]
