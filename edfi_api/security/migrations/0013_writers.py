"""Who wrote vendors, applications, clients, claim sets and resource claims, and when."""

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
    dependencies = [("data_stores", "0003_writers"), ("security", "0012_external_identities")]
    operations = [
        *(column for model in ("vendor", "application", "claimset", "resourceclaim") for column in _columns(model)),
        migrations.AddField("apiclient", "created_by", models.TextField(db_default="", editable=False)),
        migrations.AddField("apiclient", "modified_by", models.TextField(db_default="", editable=False)),
        migrations.RunSQL(
            (SQL / "0013_writers.sql").read_text(), (SQL / "0013_writers.reverse.sql").read_text()
        ),
    ]
