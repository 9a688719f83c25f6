"""Which rules of the host have refused a write, or warned of it."""

from pathlib import Path

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("refusals", "0002_direction")]
    operations = [
        migrations.RunSQL(
            (SQL / "rules.sql").read_text(),
            (SQL / "rules.reverse.sql").read_text(),
            state_operations=[
                migrations.AddField("Refusal", "rules", ArrayField(models.TextField(), default=list, size=None)),
            ],
        ),
    ]
