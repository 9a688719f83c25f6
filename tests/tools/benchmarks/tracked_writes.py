"""Timed writes of studentSchoolAssociations, with tracking and without."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import count
from time import perf_counter
from typing import Any
from uuid import UUID

import psutil
from django.db import connection

from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.served import current_surface
from edfi_api.core.storage import store
from edfi_api.core.storage.write_requests import DeleteRequest, WriteRequest
from edfi_api.features.loading.bulk import Candidate, write_documents
from edfi_api.model.surface.resource import ResourceName
from tests.support import superuser
from tests.support.factories import STORED_URIS, DocumentFactory

# Wall-clock time, and processor time.
Seconds = tuple[float, float]
Measured = dict[str, Seconds]

_WITHOUT = """
ALTER TABLE document DISABLE TRIGGER document_is_superseded, DISABLE TRIGGER document_is_deleted;
ALTER TABLE document ALTER COLUMN change_version SET DEFAULT nextval('change_version');
DROP INDEX document_change_version
"""
_WITH = """
ALTER TABLE document ENABLE TRIGGER document_is_superseded, ENABLE TRIGGER document_is_deleted;
ALTER TABLE document ALTER COLUMN change_version SET DEFAULT next_change_version() - 1;
CREATE INDEX document_change_version ON document (resource_type_id, change_version)
"""
_ASSOCIATIONS = "document USING resource_type t WHERE t.id = resource_type_id AND t.name = 'StudentSchoolAssociation'"
# Each measurement starts with tables of the same size, without dead rows.
_CLEAN = (
    f"DELETE FROM {_ASSOCIATIONS}",
    "TRUNCATE superseded_document, deleted_document",
    "VACUUM ANALYZE document, alias, reference",
)


def rounds(writes: int, number: int) -> Iterator[tuple[Measured, Measured]]:
    """By kind of write, with tracking and without. The first round warms up and is discarded."""
    measured = _Writes(writes)
    measured.measure(is_tracked=True)
    for round_ in range(number):
        order = (True, False) if round_ % 2 else (False, True)
        found = {is_tracked: measured.measure(is_tracked) for is_tracked in order}
        yield found[True], found[False]


class _Writes:
    def __init__(self, number: int) -> None:
        surface = current_surface()
        self._resource = surface.by_name[ResourceName("Ed-Fi", "StudentSchoolAssociation")]
        factory = DocumentFactory(surface)
        factory.store(self._resource)
        model, days = factory.minimal_body(self._resource), [date(1950, 1, 1) + timedelta(n) for n in range(number)]
        self._bodies = [model | {"entryDate": day.isoformat()} for day in days]
        self._validator = DocumentValidator(self._resource)
        self._years = count(2010)
        self._written: list[UUID] = []

    def measure(self, is_tracked: bool) -> Measured:
        """In an order in which each kind has the documents that it needs."""
        self._start(is_tracked)
        return {
            "inserted": _seconds(self._upsert),
            "updated": _seconds(lambda: self._upsert(exitWithdrawDate=f"{next(self._years)}-01-01")),
            "deleted": _seconds(self._delete),
            "loaded": _seconds(self._load),
            "reloaded": _seconds(lambda: self._load(exitWithdrawDate="2001-01-01")),
        }

    def _start(self, is_tracked: bool) -> None:
        with connection.cursor() as cursor:
            (was_tracked,) = cursor.execute("SELECT to_regclass('document_change_version') IS NOT NULL").fetchone()
            if was_tracked != is_tracked:
                cursor.execute(_WITH if is_tracked else _WITHOUT)
            for statement in _CLEAN:
                cursor.execute(statement)
        superuser.execute_elsewhere("CHECKPOINT")

    def _upsert(self, **changes: Any) -> None:
        incoming = (self._validator.validate(body | changes, STORED_URIS) for body in self._bodies)
        self._written = [UUID(store.upsert(WriteRequest(each, using="default")).document_uuid) for each in incoming]

    def _delete(self) -> None:
        for id_ in self._written:
            store.delete(DeleteRequest(self._resource, id_, using="default"))

    def _load(self, **changes: Any) -> None:
        for _ in write_documents(Candidate.of(self._resource, body | changes, "") for body in self._bodies):
            pass


def _seconds(write: Callable[[], None]) -> Seconds:
    process = psutil.Process(connection.connection.info.backend_pid)
    start, before = perf_counter(), process.cpu_times()
    write()
    end, after = perf_counter(), process.cpu_times()
    return end - start, after.user + after.system - before.user - before.system
