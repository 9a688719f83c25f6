"""Keys with descriptors are compared as the ids of descriptors are."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0006_moved_identities")]
    operations = [
        migrations.RunSQL((SQL / "comparable_uris.sql").read_text(), (SQL / "comparable_uris.reverse.sql").read_text()),
    ]
