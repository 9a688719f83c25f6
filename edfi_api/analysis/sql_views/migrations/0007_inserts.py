"""Lets scripts insert descriptors that are there; see sql/0007_inserts.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("sql_views", "0006_people_in_an_index")]
    operations = [
        migrations.RunSQL(
            (SQL / "0007_inserts.sql").read_text(),
            (SQL / "0007_inserts.reverse.sql").read_text(),
        )
    ]
