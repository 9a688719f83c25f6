"""Who wrote tenants and data stores, and when."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


def _columns(model: str) -> list[migrations.AddField]:
    return [
        migrations.AddField(model, "created_at", models.DateTimeField(null=True, editable=False)),
        migrations.AddField(model, "created_by", models.TextField(db_default="", editable=False)),
        migrations.AddField(model, "modified_at", models.DateTimeField(null=True, editable=False)),
        migrations.AddField(model, "modified_by", models.TextField(db_default="", editable=False)),
    ]



class Migration(migrations.Migration):
    dependencies = [("data_stores", "0002_tenants_are_final")]
    operations = [
        *(column for model in ("tenant", "datastore", "datastorecontext", "datastorederivative") for column in _columns(model)),
        migrations.RunSQL(
            (SQL / "0003_writers.sql").read_text(), (SQL / "0003_writers.reverse.sql").read_text()
        ),
    ]
