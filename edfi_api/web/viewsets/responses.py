"""Responses and their headers. Documents and empty bodies need no renderer; other responses are rendered as JSON."""

from collections.abc import Callable, Iterator, Mapping
from http.cookies import SimpleCookie
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase, ResponseHeaders
from django.shortcuts import render
from django.utils.encoding import iri_to_uri
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.status import HTTP_200_OK

from edfi_api.common.conf import api_settings
from edfi_api.core.security.profiles.catalog import ProfilePart
from edfi_api.core.storage.stored import StoredDocument
from edfi_api.model.surface.resource import Resource

JSON = "application/json; charset=utf-8"
# Longer responses are on disk until they are sent.
MOST_IN_MEMORY = 2 * 2**20
# Items of an array up to this size are written together.
_BYTES_AT_ONCE = 2**18
_BLOCK = 65_536
_NO_HEADERS: Mapping[str, str] = {}
# The headers of answers that depend on who asks.
PRIVATE: Mapping[str, str] = {"Vary": "Accept", "Cache-Control": "no-store"}


class FinishedResponse(HttpResponse):
    """An HttpResponse whose body and headers need no encoding and no checks, since they do not come from clients.

    Sets the attributes that Django's constructors set, without calling them: they would encode and check everything.
    """

    def __init__(self, status: int, headers: Mapping[str, str] = _NO_HEADERS, body: bytes = b"") -> None:
        self.headers = ResponseHeaders.__new__(ResponseHeaders)
        self.headers._store = {name.lower(): (name, value) for name, value in headers.items()}
        self.status_code = status
        self.cookies = SimpleCookie()
        self.closed = False
        self._container = [body]
        self._resource_closers: list[Callable[[], None]] = []
        self._charset = self._handler_class = self._reason_phrase = None


class JsonTextResponse(FinishedResponse):
    """A response with JSON text."""

    def __init__(self, text: bytes, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        super().__init__(HTTP_200_OK, {"Content-Type": JSON, "Content-Length": str(len(text)), **headers}, text)


class JsonArray:
    """A JSON array that is written item by item: in memory or, if it is long, on disk. The sender closes the file."""

    def __init__(self) -> None:
        self.length = 0
        self.file = SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115
        # Items that are not in the file yet, and their bytes: a write for each would take longer than all else here.
        self._kept: list[bytes] = []
        self._kept_bytes = 0

    def append(self, item: bytes) -> None:
        if self._kept and self._kept_bytes + len(item) > _BYTES_AT_ONCE:
            self._write()
        self._kept.append(item)
        self._kept_bytes += len(item)
        self.length += 1

    def finish(self) -> SpooledTemporaryFile[bytes]:
        self._write()
        self.file.write(b"]")
        return self.file

    def _write(self) -> None:
        text = b",".join(self._kept)
        self._kept.clear()
        self._kept_bytes = 0
        position = self.file.tell()
        if position + len(text) >= MOST_IN_MEMORY:  # Otherwise it is written to memory first.
            self.file.rollover()
        self.file.write(b"," if position else b"[")
        self.file.write(text)


def json_file_response(file: IO[bytes], headers: Mapping[str, str] = _NO_HEADERS) -> HttpResponseBase:
    """A response with the JSON text in a file, whose position is at the end; streamed in blocks if it is long.

    The file is closed when it has been read.
    """
    length = file.tell()
    file.seek(0)
    if length <= MOST_IN_MEMORY:
        with file:
            return JsonTextResponse(file.read(), headers)
    return StreamingHttpResponse(
        file_blocks(file), headers={"Content-Type": JSON, "Content-Length": str(length), **headers}
    )


def file_blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the blocks of a file from its position on, and close it."""
    with file:
        while block := file.read(_BLOCK):
            yield block


class EmptyResponse(FinishedResponse):
    """A response without body and Content-Type."""


class FixedHeaders:
    """Headers that are added to many responses, checked and converted to Django's internal form once."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._entries = dict(ResponseHeaders(headers)._store)

    def add_to(self, response: HttpResponse) -> None:
        response.headers._store.update(self._entries)


def etag(document: StoredDocument, part: ProfilePart | None) -> str:
    """The unquoted value: the change version, which changes exactly when the body changes, also where a profile hides
    it.

    The letter distinguishes representations with links from those without, the tag of the part those of a profile.
    """
    return tag_of(document.change_version, part)


def tag_of(change_version: int, part: ProfilePart | None) -> str:
    """Return the tag for this change version."""
    tag = f"{change_version}-{'l' if api_settings.LINKS else 'n'}"
    return tag if part is None else f"{tag}.{part.tag}"


def profiled_headers(part: ProfilePart | None) -> dict[str, str]:
    """`Content-Type` of documents that are served through a profile; without one nothing differs."""
    return {} if part is None else {"Content-Type": part.media_type}


def quoted(tag: str) -> str:
    """The value of the strong `ETag`."""
    return f'"{tag}"'


def location(request: HttpRequest, prefix: str, resource: Resource, document_uuid: str) -> str:
    """The address of a document, with the path prefix that the client used."""
    return f"{collection_address(request, prefix, resource)}/{document_uuid}"


def collection_address(request: HttpRequest, prefix: str, resource: Resource) -> str:
    """The address of all documents of a resource, with the path prefix that the client used."""
    # This is not `build_absolute_uri`, which parses the path first to check whether it is relative.
    script_name = request.META.get("SCRIPT_NAME")
    start = f"{request.scheme}://{request.get_host()}{iri_to_uri(script_name) if script_name else ''}"
    return f"{start}/{prefix}{resource.served_path}"


class EdFiJsonRenderer(BaseRenderer):
    """`application/json`, by orjson."""

    media_type = "application/json"
    format = "json"
    charset = "utf-8"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        return b"" if data is None else orjson.dumps(data)


class NoNegotiation(BaseContentNegotiation):
    """`Accept` is not negotiated on data routes (meadowlark/docs/reference/contract.md#requests-and-answers)."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type


def html_page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """The page with the Content-Security-Policy of the settings."""
    response = render(request, template, context)
    response.headers["Content-Security-Policy"] = settings.CONTENT_SECURITY_POLICY
    return response
