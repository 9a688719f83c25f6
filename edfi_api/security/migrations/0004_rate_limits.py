"""The buckets of rate limits."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('security', '0003_vendors_and_applications'),
    ]

    operations = [
        migrations.RunSQL(
            (SQL / "0004_rate_limits.sql").read_text(), (SQL / "0004_rate_limits.reverse.sql").read_text()
        ),
    ]
