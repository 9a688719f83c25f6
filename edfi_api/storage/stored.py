"""A document as read from the database, and the result of a write."""

from typing import NamedTuple


class StoredDocument(NamedTuple):
    """The columns of `statements.STORED_COLUMNS`.

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


class WrittenDocument(NamedTuple):
    """The id and version of a document after a write, whether it was inserted, updated or unchanged."""

    document_uuid: str
    change_version: int
