"""Answers with a static document: compressed if accepted, and with 304 if the client has it already.

Documents contain the URL by which the client reaches the server, which depends on its Host header. So a document is
built and compressed once, in pieces, and each answer joins them with its URL: memory does not grow with the number of
URLs.
"""

import hashlib
import re
import struct
import zlib
from dataclasses import dataclass
from typing import Protocol

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

# The placeholder for the URL of the server. Its domain cannot exist (RFC 6761 §6.4).
ADDRESS = "https://address-of-this-server.invalid"

# `;q=0` excludes a coding.
_ACCEPTS_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)")
# RFC 1952 §2.3: deflate, neither name nor time, best compression, any operating system.
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
# An empty last block (RFC 1951 §3.2.6).
_DEFLATE_END = b"\x03\0"


class Published(Protocol):
    """A document that `respond` can send: its bytes for a URL, plain and as a gzip file, and a tag unique to them."""

    @property
    def content_type(self) -> str: ...
    def content(self, address: bytes) -> bytes: ...
    def compressed(self, address: bytes) -> bytes: ...
    def tag(self, address: bytes) -> str: ...


@dataclass(frozen=True, slots=True)
class Publication:
    """The pieces of a document, plain and deflated. `digest` identifies the document."""

    content_type: str
    pieces: tuple[bytes, ...]
    deflated: tuple[bytes, ...]
    digest: bytes

    def content(self, address: bytes) -> bytes:
        return address.join(self.pieces)

    def compressed(self, address: bytes) -> bytes:
        """The content as a gzip file."""
        content = self.content(address)
        check = struct.pack("<II", zlib.crc32(content), len(content) % 2**32)
        return b"".join([_GZIP_HEADER, _deflated(address).join(self.deflated), _DEFLATE_END, check])

    def tag(self, address: bytes) -> str:
        return hashlib.blake2b(address, key=self.digest, digest_size=16).hexdigest()


def publication(content: bytes, content_type: str) -> Publication:
    """Precomputes what does not depend on the URL. `content` has `ADDRESS` in its place."""
    pieces = tuple(content.split(ADDRESS.encode()))
    digest = hashlib.blake2b(content, digest_size=16).digest()
    return Publication(content_type, pieces, tuple(map(_deflated, pieces)), digest)


def _deflated(data: bytes) -> bytes:
    """Blocks that end at a byte boundary and refer to no earlier data, so that they can be concatenated with others."""
    compressor = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush(zlib.Z_FULL_FLUSH)


def accepts_gzip(request: HttpRequest) -> bool:
    """Whether the client takes gzip, which it may also exclude."""
    return bool(_ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")))


def respond(request: HttpRequest, published: Published, address: str) -> HttpResponse:
    """The document for a server with the URL `address`, or 304 if `If-None-Match` has its tag. The tags are strong, so
    those of the two codings differ."""
    wanted = address.encode()
    headers = {"Cache-Control": "no-cache"}
    if accepts_gzip(request):
        etag, content = f'"{published.tag(wanted)}-gzip"', published.compressed(wanted)
        headers["Content-Encoding"] = "gzip"
    else:
        etag, content = f'"{published.tag(wanted)}"', published.content(wanted)
    response = HttpResponse(content, content_type=published.content_type, headers={"ETag": etag, **headers})
    return get_conditional_response(request, etag=etag, response=response) or response
