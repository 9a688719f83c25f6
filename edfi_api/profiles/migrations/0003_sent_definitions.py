"""The XML of profiles that were sent in XML."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("profiles", "0002_tenants")]
    operations = [
        migrations.AddField("profile", "sent", models.TextField(blank=True, default="", editable=False)),
        migrations.RunSQL(
            (SQL / "0003_sent_definitions.sql").read_text(), (SQL / "0003_sent_definitions.reverse.sql").read_text()
        ),
    ]
