"""Queries need not read through what was written last; see sql/0008_pending_entries.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0007_paths_of_many_documents")]
    operations = [
        migrations.RunSQL(
            (SQL / "0008_pending_entries.sql").read_text(), (SQL / "0008_pending_entries.reverse.sql").read_text()
        )
    ]
