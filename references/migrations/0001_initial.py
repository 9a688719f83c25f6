"""Identities and references with foreign keys that are checked at once; the tables are in SQL."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("edfi_api", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "references.sql").read_text()),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Alias",
                    fields=[
                        ("referential_id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                        (
                            "document",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="aliases",
                                to="edfi_api.document",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "alias",
                        "verbose_name_plural": "aliases",
                    },
                ),
                migrations.CreateModel(
                    name="Reference",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "document_id", "alias_id", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        (
                            "alias",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="referrers",
                                to="references.alias",
                            ),
                        ),
                        (
                            "document",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="references",
                                to="edfi_api.document",
                            ),
                        ),
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
                        "db_table": "reference",
                    },
                ),
            ]
        ),
    ]
