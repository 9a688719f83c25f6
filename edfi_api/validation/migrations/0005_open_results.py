"""Numbers of open results, for the overview and the metrics."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0004_requests")]
    operations = [
        migrations.RunSQL((SQL / "0005_open_results.sql").read_text(), (SQL / "0005_open_results.reverse.sql").read_text())
    ]
