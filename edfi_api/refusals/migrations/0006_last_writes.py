"""Indexes of the last success and the last refusal of each client."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("refusals", "0005_open_page")]
    operations = [
        migrations.RunSQL((SQL / "0006_last_writes.sql").read_text(), (SQL / "0006_last_writes.reverse.sql").read_text())
    ]
