"""Who restored a version of a document."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0003_kept_versions")]
    operations = [
        migrations.CreateModel(
            "Restoration",
            [
                ("change_version", models.BigIntegerField(primary_key=True, serialize=False)),
                ("username", models.TextField()),
                ("restored_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"db_table": "restoration"},
        )
    ]
