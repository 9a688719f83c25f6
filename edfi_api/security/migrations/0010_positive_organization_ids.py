"""Ids of education organizations are checked when they are written, and not with other changes of an application."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("security", "0009_management")]
    operations = [
        migrations.RunSQL(
            (SQL / "0010_positive_organization_ids.sql").read_text(),
            (SQL / "0010_positive_organization_ids.reverse.sql").read_text(),
        )
    ]
