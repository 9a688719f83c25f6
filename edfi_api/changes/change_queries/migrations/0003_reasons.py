"""What each index and trigger is for, as comments in the database."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0002_who_deleted")]
    operations = [migrations.RunSQL((SQL / "0003_reasons.sql").read_text(), migrations.RunSQL.noop)]
