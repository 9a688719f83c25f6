"""The hints of the answers to refused writes."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("refusals", "0004_causes")]
    operations = [
        migrations.RunSQL(
            (SQL / "hints.sql").read_text(),
            (SQL / "hints.reverse.sql").read_text(),
            state_operations=[migrations.AddField("Refusal", "hints", models.JSONField(default=list))],
        ),
    ]
