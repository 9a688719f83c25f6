"""What was written last about a person, and by whom, from the documents and their history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.utils import timezone

from edfi_api.core.models import Document
from edfi_api.site.person_pages.documents import Documents, rows_of, text_of_statement
from edfi_api.site.person_pages.layout import Block

_WRITTEN = text_of_statement("written")
# The columns with the identifier of a person, which deleted documents have, too.
_IDENTIFIERS = ("student", "staff", "contact")
_MOST = 80
LOOKED_AT = 5_000
WORDS = {"insert": "added", "update": "changed", "key_change": "given another key", "delete": "deleted"}


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
