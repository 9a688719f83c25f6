"""An index for clients that may see what they created; see sql/0005_document_owner.sql."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0004_recent_writers")]
    operations = [
        migrations.RunSQL(
            (SQL / "0005_document_owner.sql").read_text(), (SQL / "0005_document_owner.reverse.sql").read_text()
        )
    ]
