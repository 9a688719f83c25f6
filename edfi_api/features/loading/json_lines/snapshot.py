"""The documents of the database as they stood at one moment, however long the reading takes, page by page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connections, transaction
from psycopg import ServerCursor

from edfi_api.core.storage import resource_types
from edfi_api.model.surface.resource import Resource, ResourceName

# A document may be of megabytes.
_PAGE = 100
_PRESENT = "SELECT id FROM resource_type t WHERE EXISTS (SELECT FROM document d WHERE d.resource_type_id = t.id)"
_BODIES = "SELECT body::text FROM document WHERE resource_type_id = %s ORDER BY id"
_WITH_IDS = _BODIES.replace("body::text", "(jsonb_build_object('id', document_uuid) || body)::text")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`present` are the resources that have documents, such as are served no longer among them."""

    present: frozenset[ResourceName]
    using: str

    def bodies(self, resource: Resource, has_ids: bool = False) -> Iterator[list[str]]:
        """The JSON texts of all documents in the order of their insertion, some at a time; with their ids if wanted."""
        number = resource_types.numbers(self.using)[resource.name]
        with ServerCursor(connections[self.using].connection, "export") as cursor:
            cursor.execute(_WITH_IDS if has_ids else _BODIES, [number])
            while rows := cursor.fetchmany(_PAGE):
                yield [text for (text,) in rows]


@contextmanager
def snapshot(using: str) -> Iterator[Snapshot]:
    """Readers and writers go on undisturbed; only cleaning up after them waits for the end."""
    names = resource_types.names(using)
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        present = cursor.execute(_PRESENT).fetchall()
        yield Snapshot(frozenset(names[number] for (number,) in present), using)
