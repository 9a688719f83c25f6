"""Builds the index of refusals by organization, for the pages of schools, without blocking writers.

`id` is in the order of the first occurrence, and never changes, so updates of an entry need not write the index.
"""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("refusals", "0005_hints")]
    operations = [
        # What an interrupted build has left.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS refusal_organization", migrations.RunSQL.noop),
        migrations.RunSQL(
            "CREATE INDEX CONCURRENTLY refusal_organization ON refusal (organization, id)"
            " WHERE organization IS NOT NULL",
            "DROP INDEX CONCURRENTLY IF EXISTS refusal_organization",
        ),
        migrations.RunSQL(
            "COMMENT ON INDEX refusal_organization IS 'Entries of an organization, the latest first: pages of schools.'",
            migrations.RunSQL.noop,
        ),
    ]
