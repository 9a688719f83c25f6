"""`link` members in the reference objects of a document that is served. See
meadowlark/docs/contract.md#members-of-the-server.

What a reference object means is stored with the document; nothing is asked here.
"""

from functools import cached_property

from edfi_api.documents import json_text, resource_types
from edfi_api.documents.extraction import Extractor
from edfi_api.documents.stored import StoredDocument
from edfi_api.surface.resource import Surface


class Linker:
    """Puts links into documents of all resources of a surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    def linked_text(self, document: StoredDocument, extractor: Extractor) -> bytes:
        """The body's JSON with a link behind the key of every reference object; as stored if it has none."""
        if document.linked_types is None or document.linked_ids is None:
            return document.text
        body = json_text.loads(document.text)
        types, ids = _items(document.linked_types), _items(document.linked_ids)
        for reference, type_, id_ in zip(extractor.reference_objects(body), types, ids, strict=True):
            # The database may have documents of resources that are not served any more.
            if type_ in self._starts:
                rel, start = self._starts[type_]
                reference["link"] = {"rel": rel, "href": start + id_}
        return json_text.dumps(body)

    @cached_property
    def _starts(self) -> dict[str, tuple[str, str]]:
        """By the number of a resource: its name, and its path with a slash behind."""
        served = self._surface.by_name
        return {
            str(number): (name.resource, f"{served[name].url_path}/")
            for number, name in resource_types.names().items()
            if name in served
        }


def _items(array: str) -> list[str]:
    """For items that are never quoted."""
    return array[1:-1].split(",")
