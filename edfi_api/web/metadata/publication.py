"""Answers with a static document: compressed if accepted, and with 304 if the client has it already. The documents of
a surface are built on the first request and then kept.

Documents contain the URL by which the client reaches the server, which depends on its Host header, and on the context
of the request. So a document is built and compressed once, in pieces, and each answer joins them with its URLs: memory
does not grow with the number of URLs.
"""

import hashlib
import re
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, Self

import orjson
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

from edfi_api.model.surface.resource import Surface

# Placeholders for URLs of the server. Their domains cannot exist (RFC 6761 §6.4).
ADDRESS = "https://address-of-this-server.invalid"
COMPLETE_ADDRESS = "https://complete-address-of-this-server.invalid"
ANY_CONTEXT = "https://any-context-of-this-server.invalid"
# The end of a text in JSON, of the URL that begins with ANY_CONTEXT, after which the variables of OpenAPI follow.
VARIABLES = "#variables-of-this-server.invalid"
# `;q=0` excludes a coding.
_ACCEPTS_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)")
# RFC 1952 §2.3: deflate, neither name nor time, best compression, any operating system.
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
# An empty last block (RFC 1951 §3.2.6).
_DEFLATE_END = b"\x03\0"
JSON = "application/json; charset=utf-8"
GRAPHML = "application/graphml"
# Surface and URL of the server → the content, a JSON value unless it has another encoder.
Document = Callable[[Surface, str], Any]
Encode = Callable[[Any], bytes]


@dataclass(frozen=True, slots=True)
class Addresses:
    """The URLs of the server in one answer, without a trailing slash.

    `root` ends with the segments of the context that the client sent; `complete` also has placeholders, as
    `{schoolYear}`, for those that it did not send; `any_context` has placeholders for all, which `variables` describe,
    as OpenAPI has them in JSON. Without route qualifiers the three are equal, and there are no variables.
    """

    root: str
    complete: str
    any_context: str
    variables: str = ""

    @classmethod
    def without_context(cls, root: str) -> Self:
        return cls(root, root, root)

    @property
    def by_placeholder(self) -> dict[bytes, bytes]:
        """What stands for each placeholder."""
        variables = f'","variables":{self.variables}' if self.variables else '"'
        return {
            ADDRESS.encode(): self.root.encode(),
            COMPLETE_ADDRESS.encode(): self.complete.encode(),
            ANY_CONTEXT.encode(): self.any_context.encode(),
            _END_OF_URL: variables.encode(),
        }


_END_OF_URL = f'{VARIABLES}"'.encode()


_PLACEHOLDER = re.compile(b"(" + b"|".join(map(re.escape, Addresses("", "", "").by_placeholder)) + b")")


class Published(Protocol):
    """A document that `respond` can send: its bytes with URLs, plain and as a gzip file, and a tag unique to them."""

    @property
    def content_type(self) -> str: ...
    def content(self, addresses: Addresses) -> bytes: ...
    def compressed(self, addresses: Addresses) -> bytes: ...
    def tag(self, addresses: Addresses) -> str: ...


@dataclass(frozen=True, slots=True)
class Publication:
    """The pieces of a document, plain and deflated, alternating with placeholders. `digest` identifies the document."""

    content_type: str
    pieces: tuple[bytes, ...]
    deflated: tuple[bytes, ...]
    digest: bytes

    def content(self, addresses: Addresses) -> bytes:
        return _joined(self.pieces, addresses.by_placeholder)

    def compressed(self, addresses: Addresses) -> bytes:
        """The content as a gzip file."""
        content = self.content(addresses)
        check = struct.pack("<II", zlib.crc32(content), len(content) % 2**32)
        deflated = {placeholder: _deflated(text) for placeholder, text in addresses.by_placeholder.items()}
        return b"".join([_GZIP_HEADER, _joined(self.deflated, deflated), _DEFLATE_END, check])

    def tag(self, addresses: Addresses) -> str:
        texts = b"\0".join(addresses.by_placeholder.values())
        return hashlib.blake2b(texts, key=self.digest, digest_size=16).hexdigest()


Publish = Callable[[], Publication]


def publication(content: bytes, content_type: str) -> Publication:
    """Precomputes what does not depend on URLs. `content` has the placeholders in their place."""
    pieces = _PLACEHOLDER.split(content)
    deflated = [piece if number % 2 else _deflated(piece) for number, piece in enumerate(pieces)]
    digest = hashlib.blake2b(content, digest_size=16).digest()
    return Publication(content_type, tuple(pieces), tuple(deflated), digest)


def _joined(pieces: Sequence[bytes], texts: Mapping[bytes, bytes]) -> bytes:
    return b"".join([texts[piece] if number % 2 else piece for number, piece in enumerate(pieces)])


def _deflated(data: bytes) -> bytes:
    """Blocks that end at a byte boundary and refer to no earlier data, so that they can be concatenated with others."""
    compressor = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush(zlib.Z_FULL_FLUSH)


def accepts_gzip(request: HttpRequest) -> bool:
    """Return whether the client takes gzip, which it may also exclude."""
    return bool(_ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")))


def respond(request: HttpRequest, published: Published, addresses: Addresses) -> HttpResponse:
    """The document for a server with these URLs, or 304 if `If-None-Match` has its tag. The tags are strong, so those
    of the two codings differ; not by `-gzip`, which proxies that compress remove from what clients send."""
    headers = {"Cache-Control": "no-cache"}
    if accepts_gzip(request):
        etag, content = f'"{published.tag(addresses)}.gzip"', published.compressed(addresses)
        headers["Content-Encoding"] = "gzip"
    else:
        etag, content = f'"{published.tag(addresses)}"', published.content(addresses)
    response = HttpResponse(content, content_type=published.content_type, headers={"ETag": etag, **headers})
    return get_conditional_response(request, etag=etag, response=response) or response


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
