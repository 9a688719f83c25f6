"""Clients of the management API, and their tokens."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

import edfi_api.management_api.scopes

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("data_stores", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="ManagementClient",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=256)),
                ("name", models.CharField(max_length=256)),
                ("secret", models.TextField(editable=False)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                (
                                    edfi_api.management_api.scopes.Scope["FULL_ACCESS"],
                                    edfi_api.management_api.scopes.Scope["FULL_ACCESS"],
                                ),
                                (
                                    edfi_api.management_api.scopes.Scope["READ_ONLY"],
                                    edfi_api.management_api.scopes.Scope["READ_ONLY"],
                                ),
                                (
                                    edfi_api.management_api.scopes.Scope["AUTHORIZATION_METADATA"],
                                    edfi_api.management_api.scopes.Scope["AUTHORIZATION_METADATA"],
                                ),
                            ],
                            max_length=64,
                        ),
                        size=None,
                    ),
                ),
                ("is_active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_by", models.TextField(db_default="", editable=False)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "ordering": ["key"],
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("key"), name="management_client_once_in_any_case"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ManagementToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.CharField(max_length=64, unique=True)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), size=None),
                ),
                ("issued_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                (
                    "client",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to="management_api.managementclient",
                    ),
                ),
            ],
        ),
        migrations.RunSQL((SQL / "triggers.sql").read_text()),
    ]
