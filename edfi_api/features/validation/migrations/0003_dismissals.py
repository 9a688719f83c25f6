"""Violations that users of the admin accept until a day."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("validation", "0002_consumers_of_results")]
    operations = [
        migrations.CreateModel(
            "ValidationDismissal",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("result_key", models.UUIDField(db_index=True)),
                ("reason", models.TextField()),
                ("until", models.DateField(verbose_name="until, inclusive")),
                ("username", models.TextField()),
                ("dismissed_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"db_table": "validation_dismissal", "verbose_name": "dismissal"},
        )
    ]
