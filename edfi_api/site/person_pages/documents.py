"""Documents that a page of a person shows, and what was written last about the person and by whom, read with a few
statements whatever their number."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from itertools import groupby
from typing import Any, cast
from uuid import UUID

from django.db import connections
from django.utils import timezone

from edfi_api.core.documents import json_text
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.extraction import DocumentReference, Extractor
from edfi_api.core.models import Document
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.sql import Sql, statements_of
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.site.person_pages.layout import Block

text_of_statement = statements_of(__file__)
_WRITTEN = text_of_statement("written")
_ROWS, _FURTHER, _TARGETS = map(text_of_statement, ("rows", "further", "targets"))
# The columns with the identifier of a person, which deleted documents have, too.
_IDENTIFIERS = ("student", "staff", "contact")
_MOST = 80
LOOKED_AT = 5_000
WORDS = {"insert": "added", "update": "changed", "key_change": "given another key", "delete": "deleted"}

# The time limit of each statement of a page.
MILLISECONDS = 3_000
_NO_NUMBER = 0
# Numbers of rows are exact up to this one.
COUNTED = 1_000
# The most documents that refer to one row, such as the marks of a class.
_MOST_FURTHER = 12


def rows_of(statement: Sql, using: str) -> list[tuple[Any, ...]]:
    """The rows of a statement."""
    with connections[using].cursor() as cursor:
        cursor.execute(statement.text, statement.parameters)
        return cast("list[tuple[Any, ...]]", cursor.fetchall())


@dataclass(frozen=True)
class Read:
    """A document that was read."""

    resource: Resource
    type_number: int
    row: int
    document_uuid: UUID
    natural_key: str
    body: dict[str, Any]
    modified_at: datetime
    modified_by: int | None

    @cached_property
    def references(self) -> list[DocumentReference]:
        """The references of the document to others, without descriptors; none if it was stored in another standard."""
        try:
            found = _extractor(self.resource.name).references(self.body)
        except DataValidationFailed:
            return []
        return [each for each in found if each.value is None]

    def target(self, reference: tuple[str, ...]) -> UUID | None:
        """The identity to which a reference leads."""
        return next((each.referential_id for each in self.references if each.steps == reference), None)

    def refers(self, reference: tuple[str, ...], target: UUID) -> bool:
        """Return whether it refers to the identity by this reference."""
        return any(each.steps == reference and each.referential_id == target for each in self.references)

    @property
    def own_id(self) -> UUID | None:
        """The own referential id of the document; None if it was stored in another standard."""
        return identity_of(self.resource, self.body)


def identity_of(resource: Resource, body: dict[str, Any]) -> UUID | None:
    """The identity of a document; None if it was stored in a standard in which the resource had another key."""
    try:
        return _extractor(resource.name).own_identity(body).referential_id
    except DataValidationFailed:
        return None


class Documents:
    """Reads documents of a database, as far as the served standard has their resources."""

    def __init__(self, using: str) -> None:
        self._using = using
        self._by_name = current_surface().by_name
        self._names = resource_types.names(using)
        self._numbers = resource_types.numbers(using)

    def number(self, name: ResourceName) -> int:
        """The number of a resource; one that no document has where the database is not migrated to the served model."""
        return self._numbers.get(name, _NO_NUMBER)

    def name(self, number: int) -> ResourceName | None:
        """The name of the resource with this number."""
        return self._names.get(number)

    def resource(self, number: int) -> Resource | None:
        """The served resource with this number."""
        name = self.name(number)
        return self._by_name.get(name) if name else None

    def of_person(self, person: UUID, sizes: Mapping[ResourceName, int]) -> tuple[list[Read], dict[ResourceName, int]]:
        """Return the latest documents that refer to the person, so many of each resource, and their number."""
        wanted = {
            "types": [self.number(name) for name in sizes],
            "sizes": list(sizes.values()),
            "person": person,
            "counted": COUNTED + 1,
        }
        found = rows_of(_ROWS.with_values(**wanted), self._using)
        numbers = {self._names[number]: total for number, total, *_ in found}
        return [self._read(number, *values) for number, _, *values in found], numbers

    def further(self, wanted: Iterable[tuple[UUID, ResourceName]]) -> dict[tuple[UUID, ResourceName], list[Read]]:
        """Return for each identity and resource the latest documents that refer to it."""
        listed = list(dict.fromkeys(wanted))
        if not listed:
            return {}
        values = {
            "aliases": [alias for alias, _ in listed],
            "types": [self.number(name) for _, name in listed],
            "most": _MOST_FURTHER,
            "counted": COUNTED,
        }
        found: dict[tuple[UUID, ResourceName], list[Read]] = {}
        for alias, number, *rest in rows_of(_FURTHER.with_values(**values), self._using):
            found.setdefault((alias, self._names[number]), []).append(self._read(number, *rest))
        return found

    def targets(self, identities: Iterable[UUID]) -> dict[UUID, Read]:
        """Return the documents with these identities."""
        listed = list(identities)
        if not listed:
            return {}
        found = rows_of(_TARGETS.with_values(aliases=listed), self._using)
        return {alias: self._read(number, *rest) for alias, number, *rest in found if self.resource(number)}

    def _read(self, number: int, *values: Any) -> Read:
        row, document_uuid, natural_key, body, at, client = values
        resource = self._by_name[self._names[number]]
        return Read(resource, number, row, document_uuid, natural_key, json_text.loads(body.encode()), at, client)


@cache
def _extractor(name: ResourceName) -> Extractor:
    return Extractor(current_surface().by_name[name])


@dataclass(frozen=True, slots=True)
class Write:
    """A write of a document. `user` is one of the admin."""

    operation: str
    type_number: int
    document_uuid: UUID
    natural_key: str
    client: int | None
    user: str | None
    at: datetime


def written_last(
    document: Document, person: UUID, blocks: Sequence[Block], documents: Documents, using: str
) -> tuple[list[Write], bool]:
    """Return the latest writes, the newest first, and whether all documents about the person were looked at."""
    column, value = _identifier(document)
    beside = [
        (resource, column.further.resource)
        for block in blocks
        for column in block.columns
        if column.further is not None and column.further.beside is None
        for resource in block.resources
    ]
    wanted: dict[str, Any] = {
        "person": person,
        "row": document.pk,
        "own_types": sorted({documents.number(own) for own, _ in beside}),
        "further_types": sorted({documents.number(further) for _, further in beside}),
        "value": value,
        "most": _MOST,
        "looked_at": LOOKED_AT,
    }
    found = rows_of(_WRITTEN.fill(column=column).with_values(**wanted), using)
    return [Write(*values) for *values, _ in found], all(number < LOOKED_AT for *_, number in found)


def together(writes: Sequence[Write]) -> list[list[Write]]:
    """Writes of one kind that follow each other on one day by one writer, together."""
    return [list(group) for _, group in groupby(writes, _kind)]


def _kind(write: Write) -> tuple[Any, ...]:
    return timezone.localtime(write.at).date(), write.operation, write.type_number, write.client, write.user


def _identifier(document: Document) -> tuple[str, str | None]:
    """The column with the identifier of the person, and its value."""
    values = {name: getattr(document, name) for name in _IDENTIFIERS} if document.is_person else {}
    return next(((name, value) for name, value in values.items() if value), (_IDENTIFIERS[0], None))
