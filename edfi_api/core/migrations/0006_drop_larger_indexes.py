"""Drops the indexes whose queries the keys serve since `0005_use_smaller_indexes`, without blocking readers."""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("edfi_api", "0005_use_smaller_indexes")]
    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS reference_document",
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS reference_document ON reference (document_id)",
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS reached_document_association",
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS reached_document_association ON reached_document (association_id)",
        ),
    ]
