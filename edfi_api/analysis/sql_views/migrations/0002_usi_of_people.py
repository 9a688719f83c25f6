"""The index of people by their numbers serves the views alone."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("sql_views", "0001_sql_views")]
    operations = [
        migrations.RunSQL(
            (SQL / "0002_usi_of_people.sql").read_text(), (SQL / "0002_usi_of_people.reverse.sql").read_text()
        )
    ]
