"""The index of people by their numbers goes where no views need it; `create_sql_views` builds it."""

from typing import Any

from django.db import migrations


def drop_without_views(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM sql_view)")
        (are_there,) = cursor.fetchone()
        if not are_there:
            cursor.execute("DROP INDEX CONCURRENTLY IF EXISTS document_usi")


def build(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS document_usi ON document ((id::integer))"
            " INCLUDE (id, resource_type_id, student, contact, staff) WHERE is_person AND id BETWEEN 1 AND 2147483647"
        )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("sql_views", "0001_initial")]
    operations = [migrations.RunPython(drop_without_views, build)]
