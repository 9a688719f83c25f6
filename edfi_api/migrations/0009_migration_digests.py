"""What applied migrations were; the table stands in SQL and has no model. See edfi_api/applied_migrations.py."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0008_pending_entries")]
    operations = [
        migrations.RunSQL(
            (SQL / "0009_migration_digests.sql").read_text(), (SQL / "0009_migration_digests.reverse.sql").read_text()
        )
    ]
