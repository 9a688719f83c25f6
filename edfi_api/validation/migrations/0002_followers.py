"""Consumers of the events of results, and the indexes of a run's counts."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0001_validation")]
    operations = [
        migrations.RunSQL((SQL / "0002_followers.sql").read_text(), (SQL / "0002_followers.reverse.sql").read_text())
    ]
