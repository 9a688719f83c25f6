"""Whether a result changed since it appeared."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0002_followers")]
    operations = [
        migrations.RunSQL((SQL / "0003_changed_results.sql").read_text(), (SQL / "0003_changed_results.reverse.sql").read_text())
    ]
