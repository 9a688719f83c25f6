"""Stored documents without their bodies: by referential ids, and the referential ids by id."""

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from edfi_api.storage.driver.execution import execute, with_retries
from edfi_api.storage.driver.sql_files import statements_beside

_statement = statements_beside(__file__)
_STORED_BY_ALIASES, _IDENTIFIED_BY_UUIDS = _statement("stored_by_aliases"), _statement("identified_by_uuids")


class StoredVersion(NamedTuple):
    """A document as it is now."""

    document_uuid: UUID
    change_version: int


def stored_versions(ids: Iterable[UUID], using: str) -> dict[UUID, StoredVersion]:
    """By referential id; those of no document are missing."""
    wanted = list(ids)
    if not wanted:
        return {}
    statement = _STORED_BY_ALIASES.with_values(ids=wanted)
    return {id_: StoredVersion(*found) for id_, *found in with_retries(lambda: execute(statement, using))}


def referential_ids(document_uuids: Iterable[UUID], using: str) -> dict[UUID, set[UUID]]:
    """All referential ids of each document, by its id; those of no document are missing."""
    wanted = list(document_uuids)
    found: dict[UUID, set[UUID]] = {}
    if wanted:
        statement = _IDENTIFIED_BY_UUIDS.with_values(ids=wanted)
        for document_uuid, id_ in with_retries(lambda: execute(statement, using)):
            found.setdefault(document_uuid, set()).add(id_)
    return found
