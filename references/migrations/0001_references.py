"""Aliases and references with real, immediate foreign keys; the tables themselves stand in SQL."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("edfi_api", "0001_documents")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0001_references.sql").read_text(), (SQL / "0001_references.reverse.sql").read_text()
                )
            ],
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
                    options={"db_table": "alias", "verbose_name_plural": "aliases"},
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
                    ],
                    options={"db_table": "reference"},
                ),
            ],
        )
    ]
