"""Stored document → what clients see: `id` in front, `_etag` and `_lastModifiedDate` behind the body.

The body's JSON text is spliced, not parsed, unless links are to be put into it. See
meadowlark/docs/contract.md#members-of-the-server.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from edfi_api.conf import api_settings
from edfi_api.documents.extraction import Extractor
from edfi_api.documents.stored import StoredDocument, WrittenDocument
from edfi_api.viewsets.links import Linker
from edfi_api.viewsets.responses import JsonArray


def etag(document: StoredDocument | WrittenDocument) -> str:
    """The bare value: the change version, which moves with every change of the body and with nothing else.

    The letter tells answers with links from those without.
    """
    return f"{document.change_version}-{'l' if api_settings.LINKS else 'n'}"


@dataclass(frozen=True, slots=True)
class Representation:
    """How the documents of one resource are written."""

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
