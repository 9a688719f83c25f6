"""Bodies of requests: HTTP request → JSON object, form or text. Errors as in
meadowlark/docs/operate/management-api.md."""

from typing import Any
from urllib.parse import parse_qsl

import orjson
from django.http import HttpRequest

from edfi_api.common.conf import api_settings
from edfi_api.common.request_body import BodyIncomplete, BodyTooLong, BodyUnreadable, read_body
from edfi_api.features.management_api import problems, texts

LARGEST_INTEGER = 2**31
LARGEST_LONG = 2**63
_MOST_FORM_FIELDS = 100


def number(value: Any, largest: int) -> int:
    """An integer, which may be a text of digits. Raises ValueError."""
    if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdecimal() and len(value) <= 20:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -largest <= value < largest:
        raise ValueError(value)
    return value


def int32(text: str) -> int:
    """An integer of 32 bits. Raises ValueError."""
    return number(text, LARGEST_INTEGER)


def integer(text: str | int) -> int:
    """An id of an address or a query. Raises RequestRefused if it is no integer of 32 bits."""
    try:
        return number(text, LARGEST_INTEGER)
    except ValueError:
        raise problems.unreadable_parameter() from None


def read_object(request: HttpRequest) -> dict[str, Any]:
    """The body as a JSON object, with names of members in lower case. Raises RequestRefused."""
    media_type = _media_type(request)
    body = read_text(request)
    if media_type not in ("application/json", "text/json") and not media_type.endswith("+json"):
        raise problems.unsupported_media_type()
    if not body.strip():
        raise problems.bad_request(errors=[texts.EMPTY_BODY])
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise problems.invalid_json() from None
    if not isinstance(found, dict):
        raise problems.invalid_json()
    return {name.lower(): value for name, value in found.items()}


def read_form(request: HttpRequest) -> dict[str, str]:
    """The fields of a form, with names in lower case and without underscores. Raises RequestRefused."""
    media_type = _media_type(request)
    body = read_text(request)
    if media_type != "application/x-www-form-urlencoded" and (media_type or body):
        raise problems.unsupported_media_type()
    try:
        pairs = parse_qsl(body.decode(), max_num_fields=_MOST_FORM_FIELDS, keep_blank_values=True)
    except ValueError:
        raise problems.bad_request(errors=[texts.MALFORMED_FORM]) from None
    fields = {name.lower().replace("_", ""): value for name, value in pairs}
    if len(fields) < len(pairs) or any("\0" in value for value in fields.values()):
        raise problems.bad_request(errors=[texts.MALFORMED_FORM])
    return fields


def _media_type(request: HttpRequest) -> str:
    return str(request.META.get("CONTENT_TYPE", "")).partition(";")[0].strip().lower()


def read_text(request: HttpRequest) -> bytes:
    """The body in UTF-8. Raises RequestRefused, UnsupportedCoding and UnsupportedCharset."""
    try:
        return read_body(request, api_settings.MAX_BODY_BYTES)
    except BodyTooLong:
        raise problems.too_large() from None
    except BodyIncomplete:
        raise problems.invalid_json() from None
    except BodyUnreadable as error:
        raise problems.unreadable_body(error.reason) from None


def is_empty(value: object) -> bool:
    return value is None or value in (0, []) or (isinstance(value, str) and not value.strip())
