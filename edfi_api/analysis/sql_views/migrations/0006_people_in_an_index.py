"""Lets SQL views join people in an index; see sql/0006_people_in_an_index.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("sql_views", "0005_students_in_an_index")]
    operations = [
        migrations.RunSQL(
            (SQL / "0006_people_in_an_index.sql").read_text(),
            (SQL / "0006_people_in_an_index.reverse.sql").read_text(),
        )
    ]
