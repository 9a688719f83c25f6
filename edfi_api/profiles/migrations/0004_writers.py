"""Who wrote profiles."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"



class Migration(migrations.Migration):
    dependencies = [("data_stores", "0003_writers"), ("profiles", "0003_sent_definitions")]
    operations = [
        migrations.AddField("profile", "created_by", models.TextField(db_default="", editable=False)),
        migrations.AddField("profile", "modified_by", models.TextField(db_default="", editable=False)),
        migrations.RunSQL(
            (SQL / "0004_writers.sql").read_text(), (SQL / "0004_writers.reverse.sql").read_text()
        ),
    ]
