"""Documents as they are read, and the outcomes of writes."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from edfi_api.documents.securables import COLUMNS

# The securable columns are written wherever the body is.
SECURABLES = ", ".join(COLUMNS)

# The fields of `StoredDocument`.
STORED_COLUMNS = """
d.id, d.document_uuid::text, {body}, d.change_version,
       to_char(d.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
       d.linked_types::text, d.linked_ids::text
""".strip()


class StoredDocument(NamedTuple):
    """The values of `STORED_COLUMNS`.

    `row` is the primary key, `text` the JSON of the body, `last_modified` in the format that clients see:
    2026-11-21T19:29:42Z. `linked_types` and `linked_ids` are the targets of its reference objects: two parallel arrays
    in PostgreSQL's text format, in the order of `Extractor.reference_objects`; None if there are none.
    """

    row: int
    document_uuid: str
    text: bytes
    change_version: int
    last_modified: str
    linked_types: str | None
    linked_ids: str | None


class Outcome(StrEnum):
    """What became of a write, as the statement returns it or a violated constraint implies it."""

    INSERTED = "inserted"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    # The following have had no effect; `refusals` finds out why.
    NOT_FOUND = "not found"
    DENIED = "denied"
    OTHER_IDENTITY = "other identity"
    # A reference of the document would have no target; for a delete, a reference to the document.
    MISSING_TARGET = "missing target"
    TAKEN = "taken"
    # A concurrent transaction changed what the statement had read.
    STALE = "stale"


class Written(NamedTuple):
    """The result of a write, with the id and the version of the document; empty and 0 if there is none.

    `text` is the JSON of the stored body, of a merge; otherwise it is what the request has.
    """

    outcome: Outcome
    document_uuid: str = ""
    change_version: int = 0
    text: bytes = b""

    @classmethod
    def of(cls, rows: Sequence[tuple[Any, ...]]) -> "Written":
        """From the row of a statement that writes; NOT_FOUND without one."""
        if not rows:
            return cls(Outcome.NOT_FOUND)
        outcome, document_uuid, change_version = rows[0]
        return cls(Outcome(outcome), document_uuid, change_version)
