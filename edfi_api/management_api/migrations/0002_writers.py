"""Who wrote management clients, and when."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"



class Migration(migrations.Migration):
    dependencies = [("data_stores", "0003_writers"), ("management_api", "0001_clients")]
    operations = [
        migrations.AddField("managementclient", "created_by", models.TextField(db_default="", editable=False)),
        migrations.AddField("managementclient", "modified_by", models.TextField(db_default="", editable=False)),
        migrations.AddField("managementclient", "modified_at", models.DateTimeField(null=True, editable=False)),
        migrations.RunSQL(
            (SQL / "0002_writers.sql").read_text(), (SQL / "0002_writers.reverse.sql").read_text()
        ),
    ]
