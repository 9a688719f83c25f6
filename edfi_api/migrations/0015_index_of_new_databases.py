"""The order of two indexes in new databases; see sql/0015_index_of_new_databases.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("edfi_api", "0014_paths_of_one_document"),
        ("references", "0003_reasons"),
        ("change_queries", "0005_purge_runs"),
    ]
    operations = [
        migrations.RunSQL((SQL / "0015_index_of_new_databases.sql").read_text(), migrations.RunSQL.noop),
    ]
