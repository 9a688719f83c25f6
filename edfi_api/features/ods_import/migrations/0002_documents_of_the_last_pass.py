"""The documents that the last pass has found, of resources whose deletes an ODS does not record."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ods_import", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="OdsDocument",
            fields=[
                ("document_uuid", models.UUIDField(primary_key=True, serialize=False)),
                ("resource_type_id", models.SmallIntegerField()),
            ],
            options={"db_table": "ods_document"},
        ),
    ]
