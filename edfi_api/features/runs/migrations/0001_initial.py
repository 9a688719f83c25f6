"""What clients have done, by minute."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            "RunMinute",
            [
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "client",
                        "minute",
                        "data_store",
                        "process",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("client", models.TextField()),
                ("minute", models.DateTimeField()),
                ("data_store", models.BigIntegerField()),
                ("process", models.UUIDField()),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("counts", models.JSONField()),
            ],
            options={"db_table": "run_minute"},
        )
    ]
