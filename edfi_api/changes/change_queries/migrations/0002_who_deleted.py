"""Who deleted a document in the admin, and the indexes that find deleted documents there."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("change_queries", "0001_change_tracking")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0002_who_deleted.sql").read_text(),
                    (SQL / "0002_who_deleted.reverse.sql").read_text(),
                )
            ],
            state_operations=[
                migrations.AddField("deleteddocument", "deleted_by_user", models.TextField(null=True)),
            ],
        )
    ]
