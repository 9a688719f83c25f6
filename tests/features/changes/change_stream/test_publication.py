"""The publication for logical replication."""

from django.core.management import call_command
from django.db import connection

from edfi_api.features.changes.change_stream.management.commands.create_publication import TABLES


def test_a_publication_lists_the_tables_and_is_idempotent(db):
    call_command("create_publication")
    call_command("create_publication")

    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_publication_tables WHERE pubname = 'meadowlark'")
        assert {table for (table,) in cursor.fetchall()} == set(TABLES)
