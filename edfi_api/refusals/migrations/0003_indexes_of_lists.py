"""Indexes for lists of clients with many entries."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("refusals", "0002_resolved")]
    operations = [
        migrations.RunSQL(
            (SQL / "0003_indexes_of_lists.sql").read_text(), (SQL / "0003_indexes_of_lists.reverse.sql").read_text()
        )
    ]
