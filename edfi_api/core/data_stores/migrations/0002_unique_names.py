"""Writers can ask for names of data stores that no other has, and for one derivative of each type. What a database
repeats already stays."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("data_stores", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "unique_names.sql").read_text(), (SQL / "unique_names.reverse.sql").read_text())
    ]
