"""Changes with which a handler failed; the table is in SQL."""

from pathlib import Path

import django.utils.timezone
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("change_queries", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "dead_letters.sql").read_text()),
        migrations.SeparateDatabaseAndState(
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
                    options={
                        "db_table": "dead_letter",
                    },
                ),
            ]
        ),
    ]
