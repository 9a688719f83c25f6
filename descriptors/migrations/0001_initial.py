"""The descriptor proxy, which has no table of its own."""

from django.db import migrations


class Migration(migrations.Migration):
    initial = True
    dependencies = [("edfi_api", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="Descriptor",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("edfi_api.document",),
        ),
    ]
