"""Paths of new documents, added by statement from the views that define them; see sql/0010_paths_by_statement.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0009_migration_digests")]
    operations = [
        migrations.RunSQL(
            (SQL / "0010_paths_by_statement.sql").read_text(), (SQL / "0010_paths_by_statement.reverse.sql").read_text()
        )
    ]
