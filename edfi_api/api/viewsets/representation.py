"""Stored document → JSON for clients: `id` before, `_etag` and `_lastModifiedDate` after the members of the body.

The body's JSON text is spliced without parsing, unless links are added to it or a profile narrows it. See
meadowlark/docs/reference/contract.md#members-of-the-server.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from edfi_api.api.viewsets.links import Linker
from edfi_api.api.viewsets.responses import JsonArray
from edfi_api.conf import api_settings
from edfi_api.documents import json_text
from edfi_api.documents.extraction import Extractor
from edfi_api.profiles.catalog import ProfilePart, version_of_part
from edfi_api.storage.stored import StoredDocument


def etag(document: StoredDocument, part: ProfilePart | None) -> str:
    """The unquoted value: the change version, which changes exactly when the body changes; under a part of a profile
    the version of what is read through it.

    The letter distinguishes representations with links from those without, the tag of the part those of a profile.
    """
    if part is None:
        return f"{document.change_version}-{'l' if api_settings.LINKS else 'n'}"
    return tag_of(part.version(document.change_version, document.text), part)


def tag_of(version: str, part: ProfilePart | None) -> str:
    """The same for this version."""
    tag = f"{version}-{'l' if api_settings.LINKS else 'n'}"
    return tag if part is None else f"{tag}.{part.tag}"


def profiled_headers(part: ProfilePart | None) -> dict[str, str]:
    """`Content-Type` of documents that are served through a profile; without one nothing differs."""
    return {} if part is None else {"Content-Type": part.media_type}


@dataclass(frozen=True, slots=True)
class Representation:
    """Writes the documents of one resource as JSON, through a part of a profile if there is one."""

    extractor: Extractor
    linker: Linker
    part: ProfilePart | None = None

    def under(self, part: ProfilePart | None) -> "Representation":
        """The representation through this part of a profile; the same without one."""
        return self if part is None else Representation(self.extractor, self.linker, part)

    def document(self, document: StoredDocument, using: str) -> bytes:
        """One document."""
        return self.served(document, using)[1]

    def served(self, document: StoredDocument, using: str) -> tuple[str, bytes]:
        """The entity tag and the text of one document; its stored text is a non-empty object, since every resource has
        an identity."""
        if self.part is None or self.part.view is None:
            tag = etag(document, self.part)
            text = self.linker.linked_text(document, self.extractor, using) if api_settings.LINKS else document.text
        else:
            tag, text = self._narrowed(document, using, self.part)
        front = f'{{"id":"{document.document_uuid}",'
        behind = f',"_etag":"{tag}","_lastModifiedDate":"{document.last_modified}"}}'
        return tag, b"%b%b%b" % (front.encode(), text[1:-1], behind.encode())

    def _narrowed(self, document: StoredDocument, using: str, part: ProfilePart) -> tuple[str, bytes]:
        """With links, the text is parsed once for both."""
        if not api_settings.LINKS:
            text = part.project_text(document.text)
            return tag_of(version_of_part(json_text.loads(text)), part), text
        body = json_text.loads(document.text)
        visible = part.project(body)
        version = version_of_part(visible)
        # Stored links are in the order of all reference objects, hidden ones too. Visible ones are the same objects.
        self.linker.add_links(body, document, self.extractor, using)
        return tag_of(version, part), json_text.dumps(visible)

    def collection(self, documents: Iterable[StoredDocument], using: str) -> "CollectionText":
        """A JSON array of documents."""
        array, last_row = JsonArray(), None
        for document in documents:
            array.append(self.served(document, using)[1])
            last_row = document.row
        return CollectionText(array.finish(), last_row)


@dataclass(frozen=True, slots=True)
class CollectionText:
    """The JSON of a page, in memory or on disk, and the row of its last document."""

    file: SpooledTemporaryFile[bytes]
    last_row: int | None
