"""What became of the commands of the schedule."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="ScheduledCommand",
            fields=[
                ("entry", models.TextField(primary_key=True, serialize=False)),
                ("claimed_at", models.DateTimeField()),
                ("host", models.TextField(blank=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.TextField(
                        blank=True,
                        choices=[
                            ("done", "done"),
                            ("failed", "failed"),
                            ("busy", "still running elsewhere"),
                            ("stopped", "stopped"),
                        ],
                    ),
                ),
                ("succeeded_at", models.DateTimeField(null=True)),
            ],
            options={"db_table": "scheduled_command"},
        ),
    ]
