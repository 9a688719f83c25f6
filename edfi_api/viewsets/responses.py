"""Answers that need no renderer: JSON that is finished already, and nothing at all; and what many have in common."""

from collections.abc import Mapping

from django.http import HttpResponse
from django.http.response import ResponseHeaders

_JSON = "application/json; charset=utf-8"
_NO_HEADERS: Mapping[str, str] = {}


class JsonTextResponse(HttpResponse):
    """Finished JSON."""

    def __init__(self, text: bytes, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        super().__init__(text, headers={"Content-Type": _JSON, "Content-Length": str(len(text)), **headers})


class EmptyResponse(HttpResponse):
    """A status without a body, and so without a Content-Type."""

    def __init__(self, status: int, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        super().__init__(status=status, headers={"Content-Type": "", **headers})
        del self.headers["Content-Type"]


class FixedHeaders:
    """The same headers for many responses, checked and brought into Django's form once."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._entries = dict(ResponseHeaders(headers)._store)

    def add_to(self, response: HttpResponse) -> None:
        response.headers._store.update(self._entries)
