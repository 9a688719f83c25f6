"""Stored document → JSON for clients: `id` before, `_etag` and `_lastModifiedDate` after the members of the body.

The body's JSON text is spliced without parsing, unless links are added to it. See
meadowlark/docs/contract.md#members-of-the-server.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from edfi_api.api.viewsets.links import Linker
from edfi_api.api.viewsets.responses import JsonArray
from edfi_api.conf import api_settings
from edfi_api.documents.extraction import Extractor
from edfi_api.storage.stored import StoredDocument, Written


def etag(document: StoredDocument | Written) -> str:
    """The unquoted value: the change version, which changes exactly when the body changes.

    The letter distinguishes representations with links from those without.
    """
    return f"{document.change_version}-{'l' if api_settings.LINKS else 'n'}"


@dataclass(frozen=True, slots=True)
class Representation:
    """Writes the documents of one resource as JSON."""

    extractor: Extractor
    linker: Linker

    def document(self, document: StoredDocument) -> bytes:
        """One document; its stored text is a non-empty object, since every resource has an identity."""
        text = self.linker.linked_text(document, self.extractor) if api_settings.LINKS else document.text
        front = f'{{"id":"{document.document_uuid}",'
        behind = f',"_etag":"{etag(document)}","_lastModifiedDate":"{document.last_modified}"}}'
        return b"%b%b%b" % (front.encode(), text[1:-1], behind.encode())

    def collection(self, documents: Iterable[StoredDocument]) -> "CollectionText":
        """A JSON array of documents."""
        array, last_row = JsonArray(), None
        for document in documents:
            array.append(self.document(document))
            last_row = document.row
        return CollectionText(array.finish(), last_row)


@dataclass(frozen=True, slots=True)
class CollectionText:
    """The JSON of a page, in memory or on disk, and the row of its last document."""

    file: SpooledTemporaryFile[bytes]
    last_row: int | None
