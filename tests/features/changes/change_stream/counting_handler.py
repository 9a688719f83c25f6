"""A handler for tests in a subprocess, which records every change that it handles."""

from django.db import connection

from edfi_api.features.changes.change_stream.documents import Change
from edfi_api.features.changes.change_stream.handlers import on_change


@on_change("ed-fi/students", "insert")
def note(change: Change) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO noted (change_version) VALUES (%s)", [change.version])
