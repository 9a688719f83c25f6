"""All deletes that wait, however many a document of the source has left; the end of a first window that has begun."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("exchange", "0003_windows_under_way")]
    operations = [
        migrations.AlterField("exchangeposition", "version", models.BigIntegerField(null=True)),
        migrations.SeparateDatabaseAndState(
            [
                migrations.RunSQL(
                    (SQL / "waiting_once.sql").read_text(),
                    (SQL / "waiting_once.reverse.sql").read_text(),
                )
            ],
            [
                migrations.DeleteModel("WaitingDocument"),
                migrations.CreateModel(
                    name="WaitingDocument",
                    fields=[
                        ("id", models.BigAutoField(primary_key=True, serialize=False)),
                        ("connection", models.BigIntegerField()),
                        ("resource", models.TextField()),
                        ("remote_id", models.TextField()),
                        ("attempts", models.IntegerField(default=1)),
                        ("due_at", models.DateTimeField()),
                        ("document_uuid", models.UUIDField(null=True)),
                    ],
                    options={
                        "db_table": "exchange_waiting",
                        "constraints": [
                            models.UniqueConstraint(
                                fields=["connection", "resource", "remote_id", "document_uuid"],
                                nulls_distinct=False,
                                name="exchange_waiting_once",
                            )
                        ],
                        "indexes": [models.Index(fields=["connection", "due_at"], name="exchange_waiting_due")],
                    },
                ),
            ],
        ),
    ]
