"""Dead letters of handlers; the table stands in SQL."""

from pathlib import Path

import django.utils.timezone
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("change_queries", "0001_change_tracking")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0001_dead_letters.sql").read_text(), (SQL / "0001_dead_letters.reverse.sql").read_text()
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name="DeadLetter",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("handler", models.TextField()),
                        ("change_version", models.BigIntegerField()),
                        ("resource", models.TextField()),
                        ("natural_key", models.TextField()),
                        ("change", models.TextField()),
                        ("error", models.TextField()),
                        ("attempts", models.IntegerField()),
                        ("failed_at", models.DateTimeField(default=django.utils.timezone.now)),
                    ],
                    options={"db_table": "dead_letter"},
                ),
            ],
        )
    ]
