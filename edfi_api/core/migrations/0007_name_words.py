"""The words of names, by which the search of the admin finds documents. `edfi_api/core/queries/name_index.py` builds the
index."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0006_drop_larger_indexes")]
    operations = [migrations.RunSQL((SQL / "name_words.sql").read_text(), (SQL / "name_words.reverse.sql").read_text())]
