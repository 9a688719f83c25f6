"""The documents that have some referential ids now, without their bodies."""

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from edfi_api.storage.driver.execution import execute, with_retries
from edfi_api.storage.driver.sql_files import statements_beside

_STORED_BY_ALIASES = statements_beside(__file__)("stored_by_aliases")


class StoredVersion(NamedTuple):
    """A document as it is now."""

    document_uuid: UUID
    change_version: int


def stored_versions(ids: Iterable[UUID], using: str) -> dict[UUID, StoredVersion]:
    """By referential id; those of no document are missing."""
    statement = _STORED_BY_ALIASES.with_values(ids=list(ids))
    return {id_: StoredVersion(*found) for id_, *found in with_retries(lambda: execute(statement, using))}
