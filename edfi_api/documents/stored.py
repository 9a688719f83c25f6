"""A document as the database has it: read, or just written."""

from typing import NamedTuple


class StoredDocument(NamedTuple):
    """The columns of `statements.STORED_COLUMNS`: the envelope, `text` with the body's JSON, and `row`, the place in
    the collection. `last_modified` is what clients see: 2026-11-21T19:29:42Z.

    What its reference objects mean stands in two parallel arrays as PostgreSQL writes them, in the order of
    `Extractor.reference_objects`; None if there are none.
    """

    row: int
    document_uuid: str
    text: bytes
    change_version: int
    last_modified: str
    linked_types: str | None
    linked_ids: str | None


class WrittenDocument(NamedTuple):
    """What a write tells of a document, be it new, changed, or the same as before."""

    document_uuid: str
    change_version: int
