"""Answers that need no renderer: JSON that is finished already, and nothing at all."""

from collections.abc import Mapping

from django.http import HttpResponse

_JSON = "application/json; charset=utf-8"
_NO_HEADERS: Mapping[str, str] = {}


class JsonTextResponse(HttpResponse):
    """Finished JSON."""

    def __init__(self, text: bytes, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        super().__init__(text, headers={"Content-Type": _JSON, **headers})


class EmptyResponse(HttpResponse):
    """A status without a body, and so without a Content-Type."""

    def __init__(self, status: int, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        super().__init__(status=status, headers={"Content-Type": "", **headers})
        del self.headers["Content-Type"]
