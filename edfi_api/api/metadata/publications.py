"""The published documents of a surface, built on the first request and then kept."""

from collections.abc import Callable
from threading import Lock
from typing import Any

import orjson

from edfi_api.api.metadata.publication import ADDRESS, Publication, publication
from edfi_api.model.surface.resource import Surface

JSON = "application/json; charset=utf-8"
GRAPHML = "application/graphml"

# Surface and URL of the server → the content, a JSON value unless it has another encoder.
Document = Callable[[Surface, str], Any]
Encode = Callable[[Any], bytes]
Publish = Callable[[], Publication]


class Publications:
    """The documents of one surface. Some are published at two paths, but built once."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._made: dict[Document, Publication] = {}
        self._lock = Lock()

    def of(
        self, document: Document, encode: Encode = orjson.dumps, content_type: str = JSON, address: str = ADDRESS
    ) -> Publish:
        """A function that returns the publication of a document, built on its first call. `address` is the placeholder
        for the URL of the server."""

        def publish() -> Publication:
            with self._lock:
                if document not in self._made:
                    self._made[document] = publication(encode(document(self._surface, address)), content_type)
                return self._made[document]

        return publish
