"""The ledger of refusals; the tables stand in SQL."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.RunSQL((SQL / "0001_refusals.sql").read_text(), (SQL / "0001_refusals.reverse.sql").read_text()),
        migrations.CreateModel(
            name="Refusal",
            fields=[("id", models.UUIDField(primary_key=True, serialize=False))],
            options={
                "db_table": "refusal",
                "managed": False,
                "permissions": [
                    ("view_refusal_keys", "Can view natural keys and messages of refusals, and export them")
                ],
            },
        ),
        migrations.CreateModel(
            name="OpenRefusals",
            fields=[
                ("pk", models.CompositePrimaryKey("client", "data_store", "resource", "problem", "awaited_resource")),
                ("client", models.BigIntegerField()),
                ("data_store", models.BigIntegerField()),
                ("resource", models.TextField()),
                ("problem", models.TextField()),
                ("awaited_resource", models.TextField()),
            ],
            options={"db_table": "open_refusals", "managed": False},
        ),
        migrations.CreateModel(
            name="SubmissionHour",
            fields=[
                ("pk", models.CompositePrimaryKey("hour", "client", "data_store", "resource")),
                ("client", models.BigIntegerField()),
                ("data_store", models.BigIntegerField()),
                ("resource", models.TextField()),
                ("hour", models.DateTimeField()),
            ],
            options={"db_table": "submission_hour", "managed": False},
        ),
    ]
