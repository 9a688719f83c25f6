"""Deletes of a source that wait. Ids at other sides are where documents are pushed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("exchange", "0001_initial")]
    operations = [
        migrations.AddField("waitingdocument", "document_uuid", models.UUIDField(null=True)),
        migrations.DeleteModel("RemoteId"),
    ]
