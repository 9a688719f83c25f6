"""Versions of results from the sequence of documents."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0006_pages")]
    operations = [
        migrations.RunSQL(
            (SQL / "0007_change_versions.sql").read_text(), (SQL / "0007_change_versions.reverse.sql").read_text()
        )
    ]
