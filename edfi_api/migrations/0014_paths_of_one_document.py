"""A faster trigger for statements that insert one document; see sql/0014_paths_of_one_document.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0013_reasons_of_columns")]
    operations = [
        migrations.RunSQL(
            (SQL / "0014_paths_of_one_document.sql").read_text(),
            (SQL / "0014_paths_of_one_document.reverse.sql").read_text(),
        )
    ]
