"""Which API client wrote when, for reads that may go to a replica; the table stands in SQL and has no model."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0003_organization_closure")]
    operations = [
        migrations.RunSQL(
            (SQL / "0004_recent_writers.sql").read_text(), (SQL / "0004_recent_writers.reverse.sql").read_text()
        )
    ]
