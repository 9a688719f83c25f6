"""An index of the resolved results of organizations."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0008_results_of_any_state")]
    operations = [
        migrations.RunSQL(
            (SQL / "0009_resolved_of_organizations.sql").read_text(),
            (SQL / "0009_resolved_of_organizations.reverse.sql").read_text(),
        )
    ]
