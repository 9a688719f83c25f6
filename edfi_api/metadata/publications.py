"""What is published about a surface, made when it is first asked for and kept.

Documents name the address by which the client reaches the server, so each address has its own.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any

import orjson
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from edfi_api.metadata.publication import Publication, publication
from edfi_api.surface.resource import Surface

JSON = "application/json; charset=utf-8"
GRAPHML = "application/graphml"
# All documents for two or three addresses.
_MOST_BYTES_KEPT = 16 * 1024 * 1024

# Surface and address → what is published, a JSON value unless it is encoded otherwise.
Document = Callable[[Surface, str], Any]
Encode = Callable[[Any], bytes]
Publish = Callable[[str], Publication]


class Publications:
    """The documents of one surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._kept: LRUCache[Any, Publication] = LRUCache(_MOST_BYTES_KEPT, getsizeof=len)
        self._lock = Lock()

    def of(self, document: Document, encode: Encode = orjson.dumps, content_type: str = JSON) -> Publish:
        """Publishes a document for an address."""

        @cached(self._kept, key=lambda root: hashkey(document, root), lock=self._lock)
        def publish(root: str) -> Publication:
            return publication(encode(document(self._surface, root)), content_type)

        return publish
