"""When purges ran last."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0004_history_of_a_document")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0005_purge_runs.sql").read_text(), (SQL / "0005_purge_runs.reverse.sql").read_text()
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name="PurgeRun",
                    fields=[
                        ("name", models.TextField(primary_key=True, serialize=False)),
                        ("finished_at", models.DateTimeField()),
                    ],
                    options={"db_table": "purge_run"},
                ),
            ],
        )
    ]
