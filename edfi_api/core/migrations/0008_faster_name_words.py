"""The words of names in less time. What they are stays, and so does their index."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0007_name_words")]
    operations = [
        migrations.RunSQL(
            (SQL / "faster_name_words.sql").read_text(), (SQL / "faster_name_words.reverse.sql").read_text()
        )
    ]
