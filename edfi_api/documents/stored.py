"""A document as the database has it, and what its references mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from edfi_api.documents import resource_types
from edfi_api.surface.resource import ResourceName


class Target(NamedTuple):
    """A document that another refers to, by what it really is: a School, not an EducationOrganization."""

    name: ResourceName
    document_uuid: UUID


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """The envelope of a document as the database has it; `text` is the body's JSON, empty after a write.

    `targets` has what its reference objects mean, by referential id, and `row` its place in the collection, if they
    were asked for.
    """

    document_uuid: UUID
    change_version: int
    last_modified_at: datetime
    text: str = ""
    targets: Mapping[UUID, Target] = field(default_factory=dict)
    row: int = 0


def stored_document(columns: Sequence[Any], using: str) -> StoredDocument:
    """From the columns of the reading statements: row, UUID, text, change version, last modification, and what
    `statements.TARGETS` gives if it was asked."""
    row, document_uuid, text, change_version, last_modified_at, *targets = columns
    return StoredDocument(document_uuid, change_version, last_modified_at, text, _targets(targets, using), row)


def _targets(columns: Sequence[Any], using: str) -> dict[UUID, Target]:
    """From three parallel arrays, which are NULL where there is nothing: aliases, resource types, document UUIDs."""
    if not columns or columns[0] is None:
        return {}
    names = resource_types.names(using)
    return {alias: Target(names[number], document_uuid) for alias, number, document_uuid in zip(*columns, strict=True)}
