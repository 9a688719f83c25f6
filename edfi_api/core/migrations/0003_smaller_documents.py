"""Documents without columns that repeat what the rest of the row says. The triggers and the view that read them before
are those of change queries."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0002_natural_key"), ("change_queries", "0005_derived_keys")]
    operations = [
        migrations.RunSQL(
            (SQL / "smaller_documents.sql").read_text(), (SQL / "smaller_documents.reverse.sql").read_text()
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.AlterField("document", "operation", models.TextField(null=True))]
        ),
    ]
