"""Documents as they are read, with or without their bodies, and the outcomes of writes."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from edfi_api.core.documents.securables import COLUMNS
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql, statements_of
from edfi_api.core.storage.row_policy import RowPolicy
from edfi_api.model.surface.resource import ResourceName

# The securable columns are written wherever the body is.
SECURABLES = ", ".join(COLUMNS)

# The fields of `StoredDocument`.
STORED_COLUMNS = """
d.id, d.document_uuid::text, {body}, d.change_version,
       to_char(d.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
       d.linked_types::text, d.linked_ids::text
""".strip()

_statement = statements_of(__file__)
_STORED_BY_ALIASES, _IDENTIFIED_BY_UUIDS = _statement("stored_by_aliases"), _statement("identified_by_uuids")
_DOCUMENTS_BY_ALIASES = _statement("documents_by_aliases").fill(columns=STORED_COLUMNS.format(body="d.body"))


class StoredDocument(NamedTuple):
    """The values of `STORED_COLUMNS`.

    `row` is the primary key, `text` the JSON of the body, `last_modified` the timestamp of its last change in UTC:
    2026-11-21T19:29:42.123456Z. `linked_types` and `linked_ids` are the targets of its reference objects: two parallel
    arrays in PostgreSQL's text format, in the order of `Extractor.reference_objects`; None if there are none.
    """

    row: int
    document_uuid: str
    text: bytes
    change_version: int
    last_modified: str
    linked_types: str | None
    linked_ids: str | None


class Outcome(StrEnum):
    """The outcome of a write, as the statement returns it or a violated constraint implies it."""

    INSERTED = "inserted"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    # The following have had no effect; `write_errors` finds out why.
    NOT_FOUND = "not found"
    DENIED = "denied"
    OTHER_IDENTITY = "other identity"
    # A reference of the document would have no target; for a delete, a reference to the document.
    MISSING_TARGET = "missing target"
    TAKEN = "taken"
    # A concurrent transaction changed what the statement had read.
    STALE = "stale"
    # The stored body is another one, and is to stay for now; the second, if it was written since the load began.
    DIFFERENT = "different"
    REPEATED = "repeated"


_OUTCOMES = {each.value: each for each in Outcome}


class Written(NamedTuple):
    """The result of a write, with the id and the version of the document; empty and 0 if there is none."""

    outcome: Outcome
    document_uuid: str = ""
    change_version: int = 0

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> "Written":
        """Return what the row of a statement says that writes; NOT_FOUND without a row."""
        if not rows:
            return cls(Outcome.NOT_FOUND)
        outcome, document_uuid, change_version = rows[0]
        return cls(_OUTCOMES[outcome], document_uuid, change_version)


class RecentOutcomes:
    """The outcomes of the last two writes of each resource in this process, which predict that of the next one.

    Clients mostly send new documents only, or all their documents repeatedly, or changes only. A wrong guess costs a
    second statement, so none is made while outcomes differ. Threads need no lock: at worst a guess is made or missed.
    """

    def __init__(self) -> None:
        self._last_two: dict[ResourceName, tuple[Outcome | None, Outcome]] = {}

    def likely(self, name: ResourceName) -> Outcome | None:
        """The outcome of both; None if they differ, or there were fewer."""
        one, other = self._last_two.get(name, (None, None))
        return other if one is other else None

    def add(self, name: ResourceName, outcome: Outcome) -> None:
        """The outcome of a write of this resource."""
        _, last = self._last_two.get(name, (None, None))
        self._last_two[name] = last, outcome


def recent_upserts(_using: str) -> RecentOutcomes:
    """Return the recent upserts of a database, one document at a time or in sets."""
    return RecentOutcomes()


class StoredVersion(NamedTuple):
    """A document as it is now."""

    document_uuid: UUID
    change_version: int


def stored_versions(ids: Iterable[UUID], using: str, policy: RowPolicy | None = None) -> dict[UUID, StoredVersion]:
    """Return the stored versions by referential id; those of no document, and of none that the policy allows, are
    missing.
    """
    wanted = list(ids)
    if not wanted:
        return {}
    allowed: Sql | str = "" if policy is None else " AND " + policy.using
    statement = _STORED_BY_ALIASES.fill(and_allowed=allowed).with_values(ids=wanted)
    return {id_: StoredVersion(*found) for id_, *found in run_with_retries(lambda: execute(statement, using))}


def stored_documents(ids: Iterable[UUID], using: str) -> dict[UUID, StoredDocument]:
    """Return the stored documents by referential id; those of no document are missing."""
    statement = _DOCUMENTS_BY_ALIASES.with_values(ids=list(ids))
    return {id_: StoredDocument(*columns) for id_, *columns in execute(statement, using)}


def referential_ids(document_uuids: Iterable[UUID], using: str) -> dict[UUID, set[UUID]]:
    """All referential ids of each document, by its id; those of no document are missing."""
    wanted = list(document_uuids)
    found: dict[UUID, set[UUID]] = {}
    if wanted:
        statement = _IDENTIFIED_BY_UUIDS.with_values(ids=wanted)
        for document_uuid, id_ in run_with_retries(lambda: execute(statement, using)):
            found.setdefault(document_uuid, set()).add(id_)
    return found
