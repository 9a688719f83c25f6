"""Responses without a renderer: JSON text and empty bodies, and headers that many responses share."""

from collections.abc import Callable, Iterator, Mapping
from http.cookies import SimpleCookie
from tempfile import SpooledTemporaryFile
from typing import IO

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase, ResponseHeaders
from rest_framework.status import HTTP_200_OK

_JSON = "application/json; charset=utf-8"
# Longer responses are spooled to disk until they are sent.
MOST_IN_MEMORY = 2 * 2**20
_BLOCK = 65_536
_NO_HEADERS: Mapping[str, str] = {}


class FinishedResponse(HttpResponse):
    """An HttpResponse whose body and headers need no encoding and no checks, since they do not come from clients.

    Sets the attributes that Django's constructors set, without calling them: they would encode and check everything.
    """

    def __init__(self, body: bytes, status: int, headers: Mapping[str, str]) -> None:
        self.headers = ResponseHeaders({})
        self.headers._store.update({name.lower(): (name, value) for name, value in headers.items()})
        self.status_code = status
        self.cookies = SimpleCookie()
        self.closed = False
        self._container = [body]
        self._resource_closers: list[Callable[[], None]] = []
        self._charset = self._handler_class = self._reason_phrase = None


class JsonTextResponse(FinishedResponse):
    """A response with JSON text."""

    def __init__(self, text: bytes, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        super().__init__(text, HTTP_200_OK, {"Content-Type": _JSON, "Content-Length": str(len(text)), **headers})


class JsonArray:
    """A JSON array that is written item by item: in memory or, if it is long, on disk. The sender closes the file."""

    def __init__(self) -> None:
        self.length = 0
        self.file = SpooledTemporaryFile(MOST_IN_MEMORY)  # noqa: SIM115

    def append(self, item: bytes) -> None:
        self.file.write(b"," if self.length else b"[")
        self.file.write(item)
        self.length += 1

    def finish(self) -> SpooledTemporaryFile[bytes]:
        self.file.write(b"]" if self.length else b"[]")
        return self.file


def json_file_response(file: IO[bytes], headers: Mapping[str, str] = _NO_HEADERS) -> HttpResponseBase:
    """A response with the JSON text in a file, whose position is at the end; streamed in blocks if it is long."""
    length = file.tell()
    file.seek(0)
    if length <= MOST_IN_MEMORY:
        return JsonTextResponse(file.read(), headers)
    return StreamingHttpResponse(
        _blocks(file), headers={"Content-Type": _JSON, "Content-Length": str(length), **headers}
    )


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while block := file.read(_BLOCK):
            yield block


class EmptyResponse(FinishedResponse):
    """A response without body and Content-Type."""

    def __init__(self, status: int, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        super().__init__(b"", status, headers)


class FixedHeaders:
    """Headers that are added to many responses, checked and converted to Django's internal form once."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._entries = dict(ResponseHeaders(headers)._store)

    def add_to(self, response: HttpResponse) -> None:
        response.headers._store.update(self._entries)
