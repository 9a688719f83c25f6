"""Attribute what a transaction writes to whoever is responsible: the columns `created_by` and `modified_by` of the
admin database.

A trigger (edfi_api/core/data_stores/sql/triggers.sql) fills them with what is named here, or `command`.
"""

from django.db import connection


def attribute_to(by: str) -> None:
    """Name the user or client for the rest of this transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('meadowlark.writer', %s, true)", [by])
