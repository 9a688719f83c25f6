"""A function for natural keys, in place of a column."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "natural_key.sql").read_text(), (SQL / "natural_key.reverse.sql").read_text()),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField(
                    "resourcetype",
                    "key_paths",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), null=True, size=None),
                ),
            ]
        ),
    ]
