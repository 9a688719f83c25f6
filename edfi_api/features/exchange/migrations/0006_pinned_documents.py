"""Which documents here those of a source are, while a window with key changes is under way."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("exchange", "0005_name_taken")]
    operations = [
        migrations.CreateModel(
            "PinnedDocument",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("connection", models.BigIntegerField()),
                ("resource", models.TextField()),
                ("remote_id", models.TextField()),
                ("document_uuid", models.UUIDField(null=True, verbose_name="document")),
                ("is_delete", models.BooleanField(default=False)),
            ],
            options={
                "db_table": "exchange_pinned",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("connection", "resource", "remote_id"), name="exchange_pinned_once"
                    )
                ],
            },
        ),
    ]
