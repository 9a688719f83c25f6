"""Documents about people by the organizations that reach them, which triggers keep; see sql/0006_reached_documents.sql."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("edfi_api", "0005_document_owner")]
    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    (SQL / "0006_reached_documents.sql").read_text(),
                    (SQL / "0006_reached_documents.reverse.sql").read_text(),
                )
            ],
            state_operations=[
                migrations.AddField("document", "is_person", models.BooleanField(null=True)),
                migrations.CreateModel(
                    name="ReachedDocument",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "document_id",
                                "association_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("resource_type_id", models.SmallIntegerField()),
                        ("association_type_id", models.SmallIntegerField()),
                        ("organization", models.BigIntegerField()),
                        ("document_id", models.BigIntegerField()),
                        ("association_id", models.BigIntegerField()),
                        ("contact_association_id", models.BigIntegerField(null=True)),
                    ],
                    options={"db_table": "reached_document"},
                ),
            ],
        )
    ]
