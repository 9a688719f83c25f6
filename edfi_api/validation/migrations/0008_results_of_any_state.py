"""Indexes of the pages of resolved results, and of results of any state."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0007_change_versions")]
    operations = [
        migrations.RunSQL(
            (SQL / "0008_results_of_any_state.sql").read_text(),
            (SQL / "0008_results_of_any_state.reverse.sql").read_text(),
        )
    ]
