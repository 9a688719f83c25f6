"""What create_sql_views has created, and who reads it; the tables are in SQL."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("edfi_api", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "sql_views.sql").read_text()),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="SqlReader",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("role", models.CharField(help_text="A role of PostgreSQL.", max_length=63)),
                        (
                            "organization",
                            models.BigIntegerField(
                                blank=True,
                                help_text="The id of an education organization, with all below it; empty: everything.",
                                null=True,
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "reader of SQL views",
                        "verbose_name_plural": "readers of SQL views",
                        "db_table": "sql_reader",
                    },
                ),
            ]
        ),
    ]
