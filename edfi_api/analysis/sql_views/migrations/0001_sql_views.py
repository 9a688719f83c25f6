"""The list of views that the command has created, and what serves them; see sql/0001_sql_views.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("edfi_api", "0012_reasons")]
    operations = [
        migrations.RunSQL(
            (SQL / "0001_sql_views.sql").read_text(), (SQL / "0001_sql_views.reverse.sql").read_text()
        )
    ]
