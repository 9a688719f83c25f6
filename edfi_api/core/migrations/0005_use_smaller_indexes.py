"""Keys of `reference` and `reached_document` by the indexes that `0004_smaller_indexes` has built."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0004_smaller_indexes")]
    operations = [
        migrations.RunSQL((SQL / "smaller_indexes.sql").read_text(), (SQL / "smaller_indexes.reverse.sql").read_text())
    ]
