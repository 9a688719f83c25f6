"""Runs that clients request."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0003_changed_results")]
    operations = [
        migrations.RunSQL((SQL / "0004_requests.sql").read_text(), (SQL / "0004_requests.reverse.sql").read_text())
    ]
