"""Indexes of the pages of results."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0005_open_results")]
    operations = [
        migrations.RunSQL((SQL / "0006_pages.sql").read_text(), (SQL / "0006_pages.reverse.sql").read_text())
    ]
