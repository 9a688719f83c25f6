"""The index that counts what was resolved lately."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("refusals", "0001_refusals")]
    operations = [
        migrations.RunSQL((SQL / "0002_resolved.sql").read_text(), (SQL / "0002_resolved.reverse.sql").read_text())
    ]
