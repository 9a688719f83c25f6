"""Sandboxes."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = [("data_stores", "0002_unique_names"), ("security", "0002_secret_links")]
    operations = [
        migrations.CreateModel(
            "Sandbox",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        max_length=24,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                r"\A[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?\Z",
                                "A name consists of up to 24 lower-case letters, digits and hyphens between them.",
                            )
                        ],
                    ),
                ),
                (
                    "shape",
                    models.CharField(
                        choices=[
                            ("sis", "a student information system, which writes much"),
                            ("assessment", "an assessment vendor, who writes about students of others"),
                            ("warehouse", "a warehouse, which reads everything, then changes"),
                        ],
                        max_length=10,
                    ),
                ),
                ("is_populated", models.BooleanField()),
                ("generation", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "client",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sandbox", to="security.apiclient"
                    ),
                ),
                (
                    "data_store",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sandbox", to="data_stores.datastore"
                    ),
                ),
            ],
            options={"db_table": "sandbox", "ordering": ["name"]},
        )
    ]
