"""Stored document → what clients see: `id` in front, `_etag` and `_lastModifiedDate` behind the body.

The body's JSON text is spliced, not parsed, unless links are to be put into it. Source: http-api.md §§7.1, 8.
"""

from dataclasses import dataclass

from edfi_api.conf import api_settings
from edfi_api.documents.extraction import Extractor
from edfi_api.documents.stored import StoredDocument
from edfi_api.surface.resource import Surface
from edfi_api.viewsets.links import linked_text


def etag(document: StoredDocument) -> str:
    """The bare value: the change version, which moves with every change of the body and with nothing else.

    The letter tells answers with links from those without.
    """
    return f"{document.change_version}-{'l' if api_settings.LINKS else 'n'}"


@dataclass(frozen=True, slots=True)
class Representation:
    """How the documents of one resource are written."""

    extractor: Extractor
    surface: Surface

    def document(self, document: StoredDocument) -> bytes:
        """One document; its stored text is a non-empty object, since every resource has an identity."""
        return (
            f'{{"id":"{document.document_uuid}",{linked_text(document, self.extractor, self.surface)[1:-1]},'
            f'"_etag":"{etag(document)}","_lastModifiedDate":"{document.last_modified_at:%Y-%m-%dT%H:%M:%SZ}"}}'
        ).encode()

    def collection(self, documents: list[StoredDocument]) -> bytes:
        """A JSON array of documents."""
        return b"[" + b",".join([self.document(document) for document in documents]) + b"]"
