"""A finished document as it goes over the wire: compressed or not, and not at all to a client that has it already.

Documents name the address by which the client reaches the server, which the client chooses with its Host header. So a
document is made and compressed once, in pieces between which an address is put for each answer: no number of
addresses costs more than that.
"""

import hashlib
import re
import struct
import zlib
from dataclasses import dataclass
from typing import Protocol

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

# Stands in a document for the address of the server. The domain is one that cannot exist (RFC 6761 §6.4).
ADDRESS = "https://address-of-this-server.invalid"

# A coding that is refused by `;q=0` is none that is accepted.
_ACCEPTS_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)")
# RFC 1952 §2.3: deflate, neither name nor time, best compression, any operating system.
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
# An empty last block (RFC 1951 §3.2.6).
_DEFLATE_END = b"\x03\0"


class Published(Protocol):
    """What can be sent: a document for an address, also as a gzip file, and a tag that tells it from any other."""

    @property
    def content_type(self) -> str: ...
    def content(self, address: bytes) -> bytes: ...
    def compressed(self, address: bytes) -> bytes: ...
    def tag(self, address: bytes) -> str: ...


@dataclass(frozen=True, slots=True)
class Publication:
    """The pieces of a document, plain and deflated. `digest` tells them from those of any other."""

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
    """Everything about a document that can be made once. In `content` stands `ADDRESS` wherever an address belongs."""
    pieces = tuple(content.split(ADDRESS.encode()))
    digest = hashlib.blake2b(content, digest_size=16).digest()
    return Publication(content_type, pieces, tuple(map(_deflated, pieces)), digest)


def _deflated(data: bytes) -> bytes:
    """Blocks that end with a whole byte and refer to nothing in front of them, so that others can stand beside them."""
    compressor = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush(zlib.Z_FULL_FLUSH)


def respond(request: HttpRequest, published: Published, address: str) -> HttpResponse:
    """The document for a server that is reached by `address`, or 304 if `If-None-Match` names it. Both codings have a
    strong tag, so theirs must differ."""
    wanted = address.encode()
    headers = {"Cache-Control": "no-cache"}
    if _ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")):
        etag, content = f'"{published.tag(wanted)}-gzip"', published.compressed(wanted)
        headers["Content-Encoding"] = "gzip"
    else:
        etag, content = f'"{published.tag(wanted)}"', published.content(wanted)
    response = HttpResponse(content, content_type=published.content_type, headers={"ETag": etag, **headers})
    return get_conditional_response(request, etag=etag, response=response)
