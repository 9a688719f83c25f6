"""Bytes → JSON object; refuses duplicate properties, which parsers drop silently. Source: http-api.md §§5, 12.1."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from rest_framework.parsers import BaseParser

from edfi_api.conf import api_settings
from edfi_api.documents import json_text
from edfi_api.viewsets.exceptions import (
    BodyTooLarge,
    DuplicateProperty,
    EmptyBody,
    MalformedJson,
    UnsupportedMediaType,
)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MEDIA_TYPES = ("", "application/json", "text/json")
_PROFILE_MEDIA_TYPES = "application/vnd.ed-fi."


class EdFiJsonParser(BaseParser):
    """Reads the request itself, not DRF's stream, which is empty without Content-Type or Content-Length."""

    media_type = "application/json"

    def parse(self, stream: HttpRequest, media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        """The body as a JSON object; an exception of `viewsets.exceptions` says why it is none."""
        if not _is_json(stream.META.get("CONTENT_TYPE", "")):
            raise UnsupportedMediaType
        return parse_object(_read(stream).removeprefix(_BYTE_ORDER_MARK))


def parse_object(text: bytes) -> dict[str, Any]:
    """A JSON object without duplicate properties; EmptyBody, MalformedJson or DuplicateProperty otherwise."""
    if not text.strip():
        raise EmptyBody
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise MalformedJson(str(error)) from error
    if not isinstance(value, dict):
        raise MalformedJson("a JSON object is expected")
    if _may_have_lost_properties(text, value):
        _refuse_duplicates(text)
    return json_text.with_every_digit(text, value)


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type in _MEDIA_TYPES or media_type.startswith(_PROFILE_MEDIA_TYPES)


def _read(request: HttpRequest) -> bytes:
    limit = api_settings.MAX_BODY_BYTES
    try:
        body = _read_chunked(request, limit) if "HTTP_TRANSFER_ENCODING" in request.META else request.body
    except RequestDataTooBig as error:
        raise BodyTooLarge(limit) from error
    except OSError as error:  # the connection broke, or the chunks are none
        raise MalformedJson("the body did not come as announced") from error
    if len(body) > limit:
        raise BodyTooLarge(limit)
    if len(body) < int(request.META.get("CONTENT_LENGTH") or 0):
        raise MalformedJson("the body ended early")
    return body


def _read_chunked(request: HttpRequest, limit: int) -> bytes:
    """Django reads Content-Length bytes, so none of a chunked body; the WSGI server knows where that ends."""
    return request.META["wsgi.input"].read(limit + 1)


def _may_have_lost_properties(text: bytes, value: dict[str, Any]) -> bool:
    """Whether fewer quotes would be written than were read.

    Counting costs a hundredth of a parser with hooks. Each lost property takes its quotes with it, and none can
    come back, except that one written as an escape is counted only on the way out.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError as error:  # it writes 254 levels, a quarter of what it reads
        raise MalformedJson("it is nested too deeply") from error
    return b"\\u" in text or text.count(b'"') != written.count(b'"')


class _ObjectWithDuplicates(dict[str, Any]):
    repeated: list[str]


def _refuse_duplicates(text: bytes) -> None:
    value = json.loads(text, object_pairs_hook=_object)
    if paths := list(_repeated_paths(value, "$")):
        raise DuplicateProperty(paths)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = _ObjectWithDuplicates(pairs)
    value.repeated = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    return value


def _repeated_paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _ObjectWithDuplicates):
        yield from (f"{path}.{name}" for name in value.repeated)
        for name, child in value.items():
            yield from _repeated_paths(child, f"{path}.{name}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _repeated_paths(child, f"{path}[{index}]")
