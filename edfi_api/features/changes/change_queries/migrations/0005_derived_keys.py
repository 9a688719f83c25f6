"""Versions without natural keys, which a function derives from their bodies."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0004_restorations"), ("edfi_api", "0002_natural_key")]
    operations = [
        migrations.RunSQL(
            (SQL / "derived_keys.sql").read_text(),
            [(SQL / "derived_keys.reverse.sql").read_text(), (SQL / "kept_versions.sql").read_text()],
        ),
    ]
