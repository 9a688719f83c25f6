"""The end of a window that has begun."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("exchange", "0002_waiting_deletes")]
    operations = [
        migrations.AddField("exchangeposition", "under_way", models.BigIntegerField(null=True)),
    ]
