"""The list of views that read from tables; see sql/0003_copies.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("sql_views", "0002_usi_of_people")]
    operations = [
        migrations.RunSQL((SQL / "0003_copies.sql").read_text(), (SQL / "0003_copies.reverse.sql").read_text())
    ]
