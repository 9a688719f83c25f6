"""Readers of SQL views with a row filter; the table stands in SQL."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("sql_views", "0003_copies")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL((SQL / "0004_readers.sql").read_text(), (SQL / "0004_readers.reverse.sql").read_text())
            ],
            state_operations=[
                migrations.CreateModel(
                    name="SqlReader",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("role", models.CharField(max_length=63, help_text="A role of PostgreSQL.")),
                        (
                            "organization",
                            models.BigIntegerField(
                                blank=True,
                                help_text="The id of an education organization, with all below it; empty: everything.",
                                null=True,
                            ),
                        ),
                    ],
                    options={"verbose_name": "reader of SQL views", "verbose_name_plural": "readers of SQL views", "db_table": "sql_reader"},
                )
            ],
        )
    ]
