"""The primary keys as Django writes them, so that `migrate` reports no missing migration. Nothing changes in the
database."""

from django.db import migrations, models

_OPEN_REFUSALS = ("client", "data_store", "resource", "problem", "awaited_resource")
_SUBMISSION_HOUR = ("hour", "client", "data_store", "resource")


def _key(*fields: str) -> models.CompositePrimaryKey:
    return models.CompositePrimaryKey(*fields, blank=True, editable=False, primary_key=True, serialize=False)


class Migration(migrations.Migration):
    dependencies = [("refusals", "0003_indexes_of_lists")]
    operations = [
        migrations.AlterField("openrefusals", "pk", _key(*_OPEN_REFUSALS)),
        migrations.AlterField("submissionhour", "pk", _key(*_SUBMISSION_HOUR)),
    ]
