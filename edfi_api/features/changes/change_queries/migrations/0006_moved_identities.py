"""Changed keys are looked for in transactions that change one."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0005_derived_keys"), ("references", "0001_initial")]
    operations = [
        migrations.RunSQL(
            (SQL / "moved_identities.sql").read_text(), (SQL / "moved_identities.reverse.sql").read_text()
        ),
    ]
