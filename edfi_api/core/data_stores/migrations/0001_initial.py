"""Tenants and data stores."""

from pathlib import Path

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.RunSQL((SQL / "version.sql").read_text()),
        migrations.CreateModel(
            name="DataStoresVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.BigIntegerField()),
            ],
            options={
                "db_table": "data_stores_version",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="Tenant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
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
                ("created_at", models.DateTimeField(editable=False, null=True)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "db_table": "tenant",
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("name"), name="tenant_once_in_any_case"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DataStore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=256)),
                (
                    "type",
                    models.CharField(blank=True, help_text="For people: Production, Sandbox, Training.", max_length=50),
                ),
                ("connection", models.TextField(editable=False, null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("preparing", "Preparing"),
                            ("online", "Online"),
                            ("readOnly", "Read Only"),
                            ("offline", "Offline"),
                        ],
                        default="preparing",
                        max_length=9,
                    ),
                ),
                ("revision", models.BigIntegerField(default=1, editable=False)),
                (
                    "tenant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="data_stores",
                        to="data_stores.tenant",
                    ),
                ),
                ("created_at", models.DateTimeField(editable=False, null=True)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "db_table": "data_store",
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["preparing", "online", "readOnly", "offline"])),
                        name="data_store_state_is_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DataStoreContext",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=256)),
                ("value", models.CharField(max_length=256)),
                (
                    "data_store",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="contexts", to="data_stores.datastore"
                    ),
                ),
                ("created_at", models.DateTimeField(editable=False, null=True)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "db_table": "data_store_context",
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("data_store"),
                        django.db.models.functions.text.Lower("key"),
                        name="context_once_per_qualifier",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DataStoreDerivative",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "type",
                    models.CharField(
                        choices=[("ReadReplica", "Read Replica"), ("Snapshot", "Snapshot")], max_length=11
                    ),
                ),
                ("connection", models.TextField(editable=False, null=True)),
                ("revision", models.BigIntegerField(default=1, editable=False)),
                (
                    "data_store",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="derivatives",
                        to="data_stores.datastore",
                    ),
                ),
                ("created_at", models.DateTimeField(editable=False, null=True)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "db_table": "data_store_derivative",
                "ordering": ["id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("type__in", ["ReadReplica", "Snapshot"])), name="derivative_type_is_known"
                    )
                ],
            },
        ),
        migrations.RunSQL((SQL / "triggers.sql").read_text()),
    ]
