"""Functions of the write path without queries of their own; see sql/0011_inlined_functions.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0010_paths_by_statement")]
    operations = [
        migrations.RunSQL(
            (SQL / "0011_inlined_functions.sql").read_text(), (SQL / "0011_inlined_functions.reverse.sql").read_text()
        )
    ]
