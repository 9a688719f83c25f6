"""What each index and trigger is for, as comments in the database."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0011_inlined_functions")]
    operations = [migrations.RunSQL((SQL / "0012_reasons.sql").read_text(), migrations.RunSQL.noop)]
