"""Consumers of several logs; those that there are read the log of documents."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0001_initial")]
    operations = [
        migrations.RunSQL(
            (SQL / "consumers_of_logs.sql").read_text(),
            (SQL / "consumers_of_logs.reverse.sql").read_text(),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField("changeconsumer", "name", models.TextField()),
                migrations.AddField(
                    "changeconsumer", "id", models.BigAutoField(primary_key=True, serialize=False), preserve_default=False
                ),
                migrations.AddField("changeconsumer", "log", models.TextField(default="documents")),
                migrations.AlterUniqueTogether("changeconsumer", {("log", "name")}),
            ]
        ),
    ]
