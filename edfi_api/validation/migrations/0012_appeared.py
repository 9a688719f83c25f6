"""An index of results by the time at which they appeared; the admin reads the other documents of a result."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0011_switched_on")]
    operations = [
        migrations.RunSQL(
            (SQL / "0012_appeared.sql").read_text(),
            (SQL / "0012_appeared.reverse.sql").read_text(),
            state_operations=[
                migrations.AddField(
                    model_name="validationresult",
                    name="other_documents",
                    field=django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None
                    ),
                )
            ],
        )
    ]
