"""Lets SQL views count enrollments in an index; see sql/0005_students_in_an_index.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0013_reasons_of_columns"), ("sql_views", "0004_readers")]
    operations = [
        migrations.RunSQL(
            (SQL / "0005_students_in_an_index.sql").read_text(),
            (SQL / "0005_students_in_an_index.reverse.sql").read_text(),
        )
    ]
