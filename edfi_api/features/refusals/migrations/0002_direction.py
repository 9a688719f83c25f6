"""What another server has refused stands in the ledger, too."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("refusals", "0001_initial")]
    operations = [
        migrations.RunSQL(
            (SQL / "direction.sql").read_text(),
            (SQL / "direction.reverse.sql").read_text(),
            state_operations=[
                migrations.AddField(
                    "Refusal",
                    "direction",
                    models.TextField(choices=[("received", "received"), ("sent", "sent")], default="received"),
                ),
                # Django cannot change a composite primary key.
                migrations.DeleteModel("OpenRefusals"),
                migrations.CreateModel(
                    name="OpenRefusals",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "client",
                                "data_store",
                                "resource",
                                "problem",
                                "awaited_resource",
                                "direction",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("client", models.BigIntegerField()),
                        ("data_store", models.BigIntegerField()),
                        ("resource", models.TextField()),
                        ("problem", models.TextField()),
                        ("awaited_resource", models.TextField()),
                        ("direction", models.TextField(default="received")),
                        ("entries", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "open_refusals",
                    },
                ),
            ],
        ),
    ]
