"""An index of the pages of open entries."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("refusals", "0004_primary_keys")]
    operations = [
        migrations.RunSQL((SQL / "0005_open_page.sql").read_text(), (SQL / "0005_open_page.reverse.sql").read_text())
    ]
