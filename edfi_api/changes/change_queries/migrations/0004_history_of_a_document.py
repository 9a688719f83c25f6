"""The index that finds the former versions of a document."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0003_reasons")]
    operations = [
        migrations.RunSQL(
            (SQL / "0004_history_of_a_document.sql").read_text(),
            (SQL / "0004_history_of_a_document.reverse.sql").read_text(),
        )
    ]
