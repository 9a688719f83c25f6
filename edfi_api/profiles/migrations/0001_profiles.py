"""Profiles and their assignment to applications; the triggers stand in SQL."""

from pathlib import Path

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("security", "0006_sandbox_defaults")]
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
            ],
            options={"ordering": ["name"]},
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
        ),
        migrations.AddField(
            model_name="profile",
            name="applications",
            field=models.ManyToManyField(
                blank=True, related_name="profiles", through="profiles.ProfileAssignment", to="security.application"
            ),
        ),
        migrations.AddConstraint(
            model_name="profileassignment",
            constraint=models.UniqueConstraint(fields=("application", "profile"), name="profile_assigned_once"),
        ),
        migrations.AddConstraint(
            model_name="profile",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("name"), name="profile_once_in_any_case"
            ),
        ),
        migrations.RunSQL((SQL / "0001_profiles.sql").read_text(), (SQL / "0001_profiles.reverse.sql").read_text()),
    ]
