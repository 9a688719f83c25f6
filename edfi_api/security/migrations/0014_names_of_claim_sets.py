"""Names of claim sets are unique in any case, and a bundled one gets the spelling of Ed-Fi's servers."""

from pathlib import Path

from django.db import migrations, models
from django.db.models.functions import Lower

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("security", "0013_writers")]
    operations = [
        migrations.RunSQL(
            (SQL / "0014_names_of_claim_sets.sql").read_text(),
            (SQL / "0014_names_of_claim_sets.reverse.sql").read_text(),
        ),
        migrations.AddConstraint(
            "claimset",
            models.UniqueConstraint(
                Lower("name"), "tenant", nulls_distinct=False, name="claim_set_name_once_in_any_case"
            ),
        ),
    ]
