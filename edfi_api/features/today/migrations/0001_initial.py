"""Figures that take long to count."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            "CountedFigure",
            [
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("value", models.JSONField(null=True)),
                ("counted_at", models.DateTimeField(null=True)),
                ("seconds", models.FloatField()),
                ("claimed_until", models.DateTimeField()),
            ],
            options={"db_table": "counted_figure", "default_permissions": ()},
        )
    ]
