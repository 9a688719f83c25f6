"""A finished document as it goes over the wire: compressed or not, and not at all to who has it already."""

import gzip
import hashlib
import re
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

# A coding that is refused by `;q=0` is none that is accepted.
_ACCEPTS_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)")


@dataclass(frozen=True, slots=True)
class Publication:
    """A document in both codings. `tag` tells its content from any other."""

    content_type: str
    content: bytes
    compressed: bytes
    tag: str

    def __len__(self) -> int:
        return len(self.content) + len(self.compressed)


def publication(content: bytes, content_type: str) -> Publication:
    """Everything about a document that can be made once."""
    tag = hashlib.blake2b(content, digest_size=16).hexdigest()
    return Publication(content_type, content, gzip.compress(content, mtime=0), tag)


def respond(request: HttpRequest, published: Publication) -> HttpResponse:
    """The document, or 304 if `If-None-Match` names it. Both codings have a strong tag, so theirs must differ."""
    headers = {"Cache-Control": "no-cache"}
    if _ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")):
        etag, content = f'"{published.tag}-gzip"', published.compressed
        headers["Content-Encoding"] = "gzip"
    else:
        etag, content = f'"{published.tag}"', published.content
    response = HttpResponse(content, content_type=published.content_type, headers={"ETag": etag, **headers})
    return get_conditional_response(request, etag=etag, response=response)
