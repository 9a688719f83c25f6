"""Deletes documents that a source no longer has, in the order in which nothing refers to them any longer.

A source that records deletes says which; of another, those are gone that the last pass has found and this one does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connections, transaction

from edfi_api.core.storage import resource_types, store
from edfi_api.core.storage.driver.execution import TooMuchContention
from edfi_api.core.storage.write_requests import DeleteRequest
from edfi_api.features.ods_import.document_queries import DocumentQuery
from edfi_api.features.ods_import.ods_source import OdsSource
from references.exceptions import DependentItemExists

# The trigger has given the delete a version of ours.
_GIVE_VERSION = """
UPDATE deleted_document SET change_version = %(version)s, deleted_at = %(at)s
 WHERE document_uuid = %(id)s AND change_version = (
    SELECT max(change_version) FROM deleted_document WHERE document_uuid = %(id)s
 )
"""
_STAGE = "CREATE TEMPORARY TABLE found (document_uuid uuid, resource_type_id smallint)"
_DROP = "DROP TABLE found"
_COPY = "COPY found FROM STDIN"
_GONE = """
SELECT o.resource_type_id, o.document_uuid, d.change_version <@ %(changed_here)s::int8multirange
  FROM ods_document o JOIN document d USING (document_uuid)
 WHERE o.resource_type_id = ANY (%(types)s)
   AND NOT EXISTS (SELECT FROM found f WHERE f.document_uuid = o.document_uuid)
"""
_KEEP_FOUND = """
INSERT INTO ods_document (document_uuid, resource_type_id)
SELECT f.document_uuid, f.resource_type_id FROM found f JOIN document d USING (document_uuid)
ON CONFLICT DO NOTHING
"""
_FORGET = """
DELETE FROM ods_document o
 WHERE o.resource_type_id = ANY (%(types)s)
   AND NOT EXISTS (SELECT FROM document d WHERE d.document_uuid = o.document_uuid)
"""


@dataclass(frozen=True, slots=True)
class SourceDelete:
    """A document to be deleted; `version` and `at` are those that the source has recorded, if it has."""

    query: DocumentQuery
    document_uuid: UUID
    version: int | None = None
    at: str = ""

    @property
    def place(self) -> tuple[str, UUID]:
        """The endpoint and the id, for reports."""
        return self.query.resource.endpoint, self.document_uuid


@dataclass(slots=True)
class DeleteResult:
    """The deletes that were carried out here, and those that were not: changed here, or prevented by a referrer."""

    deleted: int = 0
    changed_here: list[tuple[str, UUID]] = field(default_factory=list)
    prevented: list[tuple[str, UUID]] = field(default_factory=list)


class Deletes:
    """Carries out deletes as soon as nothing refers to their documents."""

    def __init__(self, using: str) -> None:
        self.result = DeleteResult()
        self._using = using
        self._pending: list[SourceDelete] = []

    def add(self, delete: SourceDelete, *, is_changed_here: bool) -> None:
        """What was changed here stays."""
        if is_changed_here:
            self.result.changed_here.append(delete.place)
        else:
            self._pending.append(delete)

    def carry_out(self) -> None:
        """Try all that are left, as long as one succeeds."""
        while self._pending:
            before = len(self._pending)
            self._pending = [each for each in self._pending if not self._succeeds(each)]
            if len(self._pending) == before:
                break
        self.result.prevented = [delete.place for delete in self._pending]

    def _succeeds(self, delete: SourceDelete) -> bool:
        request = DeleteRequest(resource=delete.query.resource, document_uuid=delete.document_uuid, using=self._using)
        try:
            with transaction.atomic(self._using):
                if store.delete(request):
                    self.result.deleted += 1
                    self._give_version(delete)
        except (DependentItemExists, TooMuchContention):
            return False
        return True

    def _give_version(self, delete: SourceDelete) -> None:
        if delete.version is None:
            return
        values: dict[str, Any] = {"version": delete.version, "at": delete.at, "id": delete.document_uuid}
        try:
            with transaction.atomic(self._using), connections[self._using].cursor() as cursor:
                cursor.execute(_GIVE_VERSION, values)
        except IntegrityError:
            return  # Something else was deleted here with this version: this delete keeps ours, which is greater.


class UnrecordedDeletes:
    """Finds what a source no longer has, of resources whose deletes it does not record."""

    def __init__(self, source: OdsSource, queries: Sequence[DocumentQuery], using: str, changed_here: str) -> None:
        self._source = source
        self._queries = queries
        self._using = using
        self._changed_here = changed_here
        self._numbers = resource_types.numbers(using)

    def take(self, deletes: Deletes) -> None:
        """Add what has gone since the last pass, referrers first, carry it out, and keep what is there for the next."""
        if not self._queries:
            return
        by_type = {self._numbers[query.resource.name]: query for query in reversed(self._queries)}
        values: dict[str, Any] = {"types": list(by_type), "changed_here": self._changed_here}
        with transaction.atomic(self._using), connections[self._using].cursor() as cursor:
            cursor.execute(_STAGE)
            with cursor.connection.cursor() as driver, driver.copy(_COPY) as copy:
                for row in self._found():
                    copy.write_row(row)
            gone = cursor.execute(_GONE, values).fetchall()
            cursor.execute(_KEEP_FOUND)
            cursor.execute(_DROP)
        ranks = {number: rank for rank, number in enumerate(by_type)}
        for number, document_uuid, is_changed_here in sorted(gone, key=lambda row: ranks[row[0]]):
            deletes.add(SourceDelete(by_type[number], document_uuid), is_changed_here=is_changed_here)
        deletes.carry_out()
        with connections[self._using].cursor() as cursor:
            cursor.execute(_FORGET, values)

    def _found(self) -> Iterator[tuple[UUID, int]]:
        for query in self._queries:
            number = self._numbers[query.resource.name]
            for (document_uuid,) in self._source.stream(query.ids()):
                yield document_uuid, number
