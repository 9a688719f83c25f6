"""The tenant of a data store never changes."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("data_stores", "0001_data_stores")]
    operations = [
        migrations.RunSQL(
            (SQL / "0002_tenants_are_final.sql").read_text(), (SQL / "0002_tenants_are_final.reverse.sql").read_text()
        )
    ]
