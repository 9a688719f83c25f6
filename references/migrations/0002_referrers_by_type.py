"""References know the type of the document that refers; tables and keys are changed in SQL."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("references", "0001_references")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0002_referrers_by_type.sql").read_text(),
                    (SQL / "0002_referrers_by_type.reverse.sql").read_text(),
                )
            ],
            state_operations=[
                migrations.AddField(
                    model_name="reference",
                    name="resource_type",
                    field=models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="edfi_api.resourcetype",
                    ),
                    preserve_default=False,
                ),
            ],
        )
    ]
