"""Documents that connections have sent; the table is in SQL."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = [("edfi_api", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "sent_documents.sql").read_text(), "DROP TABLE exchange_sent_document"),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="SentDocument",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("connection", models.BigIntegerField()),
                        ("document_uuid", models.UUIDField(verbose_name="document")),
                        ("resource_type_id", models.SmallIntegerField()),
                        ("remote_id", models.TextField(null=True)),
                        (
                            "former_ids",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), default=list, size=None
                            ),
                        ),
                        ("refused_at", models.DateTimeField(null=True)),
                        ("attempts", models.IntegerField(default=0)),
                        (
                            "awaits",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.UUIDField(), default=list, size=None
                            ),
                        ),
                        ("is_asked", models.BooleanField(default=False)),
                    ],
                    options={
                        "db_table": "exchange_sent_document",
                    },
                ),
            ]
        ),
    ]
