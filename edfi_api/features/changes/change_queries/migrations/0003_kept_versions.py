"""Documents that come from another server keep the change versions that they have there."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0002_consumers_of_logs")]
    operations = [
        migrations.RunSQL(
            (SQL / "kept_versions.sql").read_text(), (SQL / "kept_versions.reverse.sql").read_text()
        ),
    ]
