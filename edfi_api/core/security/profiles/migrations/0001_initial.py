"""API profiles, and their assignment to applications."""

from pathlib import Path

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("security", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Profile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        max_length=500,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[A-Za-z][A-Za-z0-9_-]*\\Z",
                                "A name begins with a letter and goes on with letters, digits, '_' and '-'.",
                            )
                        ],
                    ),
                ),
                ("definition", models.TextField()),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("modified_at", models.DateTimeField(auto_now=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="profiles",
                        to="data_stores.tenant",
                    ),
                ),
                ("sent", models.TextField(blank=True, default="", editable=False)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("tenant"),
                        django.db.models.functions.text.Lower("name"),
                        name="profile_once_per_tenant",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProfileAssignment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "application",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="security.application"),
                ),
                ("profile", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="profiles.profile")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("application", "profile"), name="profile_assigned_once")
                ],
            },
        ),
        migrations.AddField(
            model_name="profile",
            name="applications",
            field=models.ManyToManyField(
                blank=True, related_name="profiles", through="profiles.ProfileAssignment", to="security.application"
            ),
        ),
        migrations.RunSQL((SQL / "triggers.sql").read_text()),
    ]
