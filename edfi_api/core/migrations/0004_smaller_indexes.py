"""Builds the indexes that take the place of larger ones, without blocking writers.

An interrupted build leaves an invalid index, so each begins with its removal: the migration can be applied again.
"""

from django.db import migrations

# Name → what it is; `0005_use_smaller_indexes` makes constraints of the unique ones.
INDEXES = {
    "reference_pair": "UNIQUE INDEX {} ON reference (document_id, alias_id)",
    "reference_alias": "INDEX {} ON reference (alias_id, resource_type_id)",
    "reached_document_path": (
        "UNIQUE INDEX {} ON reached_document (association_id, document_id, contact_association_id) NULLS NOT DISTINCT"
    ),
    "reached_document_document": "INDEX {} ON reached_document (document_id)",
    "document_creator": "INDEX {} ON document (created_by, resource_type_id) WHERE created_by IS NOT NULL",
}


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("edfi_api", "0003_smaller_documents"), ("references", "0001_initial")]
    operations = [
        operation
        for name, definition in INDEXES.items()
        for operation in (
            migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop),
            migrations.RunSQL(
                f"CREATE {definition.replace('INDEX {}', 'INDEX CONCURRENTLY {}').format(name)}",
                f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
            ),
        )
    ]
