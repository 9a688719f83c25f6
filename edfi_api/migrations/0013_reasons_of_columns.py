"""What indexes of columns are for since filters use them, as comments in the database."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0012_reasons")]
    operations = [migrations.RunSQL((SQL / "0013_reasons_of_columns.sql").read_text(), migrations.RunSQL.noop)]
