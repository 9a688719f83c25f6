"""The columns of documents by which authorization strategies decide; see documents/securables.py."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0001_documents")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0002_securables.sql").read_text(), (SQL / "0002_securables.reverse.sql").read_text()
                )
            ],
            state_operations=[
                migrations.AddField("document", "organization", models.BigIntegerField(null=True)),
                migrations.AddField("document", "student", models.TextField(null=True)),
                migrations.AddField("document", "contact", models.TextField(null=True)),
                migrations.AddField("document", "staff", models.TextField(null=True)),
                migrations.AddField("document", "namespace", models.TextField(null=True)),
                migrations.AddField(
                    "document",
                    "hierarchy",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), null=True, size=None
                    ),
                ),
                migrations.AddField("document", "opens_pathway", models.BooleanField(null=True)),
            ],
        )
    ]
