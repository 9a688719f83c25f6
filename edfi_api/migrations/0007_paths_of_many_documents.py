"""Paths of many new documents, found in one go; see sql/0007_paths_of_many_documents.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0006_reached_documents")]
    operations = [
        migrations.RunSQL(
            (SQL / "0007_paths_of_many_documents.sql").read_text(),
            (SQL / "0007_paths_of_many_documents.reverse.sql").read_text(),
        )
    ]
