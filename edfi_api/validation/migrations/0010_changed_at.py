"""When a result changed."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0009_resolved_of_organizations")]
    operations = [
        migrations.RunSQL((SQL / "0010_changed_at.sql").read_text(), (SQL / "0010_changed_at.reverse.sql").read_text())
    ]
