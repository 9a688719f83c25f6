"""Stored document → JSON for clients: `id` before, `_etag` and `_lastModifiedDate` after the members of the body, and a
`link` in every reference object.

The body's JSON text is spliced without parsing, unless links are added to it or a profile narrows it. The targets of
reference objects are stored with the document, so links need no query. See
meadowlark/docs/reference/contract.md#members-of-the-server.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, ClassVar

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import json_text
from edfi_api.core.documents.extraction import Extractor
from edfi_api.core.documents.visible_part import TextProjection
from edfi_api.core.security.profiles.catalog import ProfilePart
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.database_state import database_state
from edfi_api.core.storage.stored import StoredDocument
from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.web.answered_requests import DocumentsRead
from edfi_api.web.viewsets.responses import JsonArray, tag_of

# In bytes, of the text of a document.
_LARGE = 2**16

Starts = dict[str, tuple[str, str]]


class Linker:
    """Adds links to documents of all resources of a surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        # Kept by the identity of a numbering of resources, which databases share; it is kept so that none takes its
        # place.
        self._known: dict[int, tuple[dict[int, ResourceName], Starts]] = {}

    def linked_text(self, document: StoredDocument, extractor: Extractor, using: str) -> bytes:
        """The body's JSON with a link at the end of every reference object; as stored if it has none."""
        if document.linked_types is None or document.linked_ids is None:
            return document.text
        body = json_text.loads(document.text)
        self.add_links(body, document, extractor, using)
        return json_text.dumps(body)

    def add_links(self, body: dict[str, Any], document: StoredDocument, extractor: Extractor, using: str) -> None:
        """Add a link, in place, to every reference object of the parsed body of a document of this database."""
        if document.linked_types is None or document.linked_ids is None:
            return
        starts = database_state(using).value(self._starts)
        # Arrays in PostgreSQL's text format, whose items are never quoted.
        types, ids = document.linked_types[1:-1].split(","), document.linked_ids[1:-1].split(",")
        for reference, type_, id_ in zip(extractor.reference_objects(body), types, ids, strict=True):
            # The database may have documents of resources that the surface no longer has.
            if start := starts.get(type_):
                reference["link"] = {"rel": start[0], "href": start[1] + id_}

    def _starts(self, using: str) -> Starts:
        """Resource type → the name of the resource, and its path with a trailing slash."""
        served, names = self._surface.by_name, resource_types.names(using)
        if id(names) not in self._known:
            starts = {
                str(number): (name.resource, f"{served[name].served_path}/")
                for number, name in names.items()
                if name in served
            }
            self._known[id(names)] = names, starts
        return self._known[id(names)][1]


@dataclass(frozen=True, slots=True)
class Representation:
    """Writes the documents of one resource as JSON, through a part of a profile if there is one, with the members that
    the client wants, if not all."""

    # The length of a timestamp without its zone: in whole seconds.
    date_length: ClassVar[int] = len("2026-11-21T19:29:42")

    extractor: Extractor
    linker: Linker
    part: ProfilePart | None = None
    members: TextProjection | None = None

    def under(self, part: ProfilePart | None, members: TextProjection | None = None) -> "Representation":
        """The representation through this part of a profile, with these members; the same without both."""
        if part is None and members is None:
            return self
        return Representation(self.extractor, self.linker, part, members)

    def document(self, document: StoredDocument, using: str) -> bytes:
        """One document."""
        return self.served(document, using)[1]

    def served(self, document: StoredDocument, using: str) -> tuple[str, bytes]:
        """The entity tag and the text of one document; its stored text is a non-empty object, since every resource has
        an identity."""
        tag, text = tag_of(document.change_version, self.part), self._visible_text(document, using)
        if self.members is not None:
            text = self.members(text)
        # A view, since a slice would copy a large text once more.
        members = memoryview(text)[1:-1] if len(text) > _LARGE else text[1:-1]
        date = document.last_modified[: self.date_length]
        back = f',"_etag":"{tag}","_lastModifiedDate":"{date}Z"}}'
        return tag, b"".join((f'{{"id":"{document.document_uuid}",'.encode(), members, back.encode()))

    def _visible_text(self, document: StoredDocument, using: str) -> bytes:
        if self.part is not None and self.part.view is not None:
            return self._narrowed(document, using, self.part)
        return self.linker.linked_text(document, self.extractor, using) if api_settings.LINKS else document.text

    def _narrowed(self, document: StoredDocument, using: str, part: ProfilePart) -> bytes:
        if not api_settings.LINKS:
            return part.project_text(document.text)
        body = json_text.loads(document.text)
        # Stored links are in the order of all reference objects, so they are added before any of these is hidden.
        self.linker.add_links(body, document, self.extractor, using)
        return json_text.dumps(part.project(body))

    def collection(
        self, documents: Iterable[StoredDocument], using: str, *, keeps_text: bool = False
    ) -> "CollectionText":
        """A JSON array of documents. With `keeps_text` the last one keeps its text, even if it is large."""
        array = JsonArray()
        last: StoredDocument | None = None
        for document in documents:
            array.append(self.served(document, using)[1])
            # No name keeps the text of a large document while the next one is read.
            is_light = keeps_text or len(document.text) < _LARGE
            last = document if is_light else document._replace(text=b"")
            del document
        return CollectionText(array.finish(), last, array.length)


@dataclass(frozen=True, slots=True)
class CollectionText:
    """The JSON of a page, in memory or on disk, its last document, and how many it has."""

    file: SpooledTemporaryFile[bytes]
    last: StoredDocument | None
    documents: int

    def read(self, query: str) -> DocumentsRead:
        """Return what was read; before the file is sent."""
        return DocumentsRead(self.documents, self.file.tell(), "collection", query)
