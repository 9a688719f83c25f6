"""The hierarchy of education organizations as a table that triggers keep; see sql/0003_organization_closure.sql."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0002_securables")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0003_organization_closure.sql").read_text(),
                    (SQL / "0003_organization_closure.reverse.sql").read_text(),
                )
            ],
            state_operations=[
                migrations.CreateModel(
                    name="OrganizationClosure",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "ancestor_id",
                                "descendant_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("ancestor_id", models.BigIntegerField()),
                        ("descendant_id", models.BigIntegerField()),
                    ],
                    options={"db_table": "organization_closure"},
                ),
            ],
        )
    ]
