"""Stored document → what clients see: `id` in front, `_etag` and `_lastModifiedDate` behind the body.

The body's JSON text is spliced, never parsed. Source: http-api.md §§7.1, 8.
"""

from collections.abc import Iterable

from edfi_api.documents.store import StoredDocument


def etag(document: StoredDocument) -> str:
    """The bare value: the change version, which moves with every change of the body and with nothing else."""
    return str(document.change_version)


def document_json(document: StoredDocument) -> bytes:
    """One document; its stored text is a non-empty object, since every resource has an identity."""
    return (
        f'{{"id":"{document.document_uuid}",{document.text[1:-1]},"_etag":"{etag(document)}",'
        f'"_lastModifiedDate":"{document.last_modified_at:%Y-%m-%dT%H:%M:%SZ}"}}'
    ).encode()


def collection_json(documents: Iterable[StoredDocument]) -> bytes:
    """A JSON array of documents."""
    return b"[" + b",".join(document_json(document) for document in documents) + b"]"
