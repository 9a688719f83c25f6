"""Adds `link` members to the reference objects of documents. See
meadowlark/docs/reference/contract.md#members-of-the-server.

The targets of reference objects are stored with the document, so this needs no query.
"""

from typing import Any

from edfi_api.documents import json_text
from edfi_api.documents.extraction import Extractor
from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.storage import resource_types
from edfi_api.storage.database_state import database_state
from edfi_api.storage.stored import StoredDocument

Starts = dict[str, tuple[str, str]]


class Linker:
    """Adds links to documents of all resources of a surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        # By the identity of a numbering of resources, which databases share; it is kept so that none takes its place.
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
        types, ids = _items(document.linked_types), _items(document.linked_ids)
        for reference, type_, id_ in zip(extractor.reference_objects(body), types, ids, strict=True):
            # The database may have documents of resources that the surface no longer has.
            if type_ in starts:
                rel, start = starts[type_]
                reference["link"] = {"rel": rel, "href": start + id_}

    def _starts(self, using: str) -> Starts:
        """Resource type → the name of the resource, and its path with a trailing slash."""
        served, names = self._surface.by_name, resource_types.names(using)
        if id(names) not in self._known:
            starts = {
                str(number): (name.resource, f"{served[name].url_path}/")
                for number, name in names.items()
                if name in served
            }
            self._known[id(names)] = names, starts
        return self._known[id(names)][1]


def _items(array: str) -> list[str]:
    """The items of an array in PostgreSQL's text format; for types whose items are never quoted."""
    return array[1:-1].split(",")
