"""The passes over an ODS, and whose documents its ownership tokens mark."""

import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = [("change_queries", "0003_kept_versions")]
    operations = [
        migrations.CreateModel(
            name="OdsPass",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("since", models.BigIntegerField(null=True)),
                ("newest_version", models.BigIntegerField()),
                ("versions_given_here", django.contrib.postgres.fields.ranges.BigIntegerRangeField()),
                (
                    "completed",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
            ],
            options={"db_table": "ods_pass"},
        ),
        migrations.CreateModel(
            name="OwnershipToken",
            fields=[
                ("token", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("api_client", models.BigIntegerField()),
            ],
            options={"db_table": "ods_ownership_token"},
        ),
    ]
