"""HTTP request → the values of the members of its body, checked. Errors as in
meadowlark/docs/operate/management-api.md."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson
from django.http import HttpRequest

from edfi_api.conf import api_settings
from edfi_api.request_body import BodyIncomplete, BodyTooLong, read_body

from . import problems
from .members import Kind, Member, Shape

_LARGEST_INTEGER = 2**31
_LARGEST_LONG = 2**63
_MOST_FORM_FIELDS = 100
_EMPTY = ["A non-empty request body is required."]


def read_object(request: HttpRequest) -> dict[str, Any]:
    """The body as a JSON object, with names of members in lower case."""
    media_type = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    body = _read(request)
    if media_type not in ("application/json", "text/json") and not (media_type.endswith("+json")):
        raise problems.unsupported_media_type()
    if not body.strip():
        raise problems.bad_request(errors=_EMPTY)
    try:
        found = orjson.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        raise problems.invalid_json() from None
    if not isinstance(found, dict):
        raise problems.invalid_json()
    return {name.lower(): value for name, value in found.items()}


def read_values(request: HttpRequest, shape: Shape, id_in_address: int | None = None) -> dict[str, Any]:
    """The values of all members of the shape, by name; absent ones are None, or empty lists.

    With `id_in_address`, the body has to have the same `id`.
    """
    sent = read_object(request)
    values = {member.name: _value(member, sent) for member in shape}
    if id_in_address is not None and values["id"] != id_in_address:
        raise problems.invalid_data({"Id": ["Request body id must match the id in the url."]})
    check(shape, values)
    return values


def check(shape: Shape, values: Mapping[str, Any]) -> None:
    """Raise a Refusal with all broken rules."""
    found: dict[str, list[str]] = {}
    for member in shape:
        for key, text in member.findings(values[member.name]):
            found.setdefault(key, []).append(text)
    if found:
        raise problems.invalid_data(found)


def read_form(request: HttpRequest) -> dict[str, str]:
    """The fields of a form, with names in lower case and without underscores."""
    media_type = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    body = _read(request)
    if media_type != "application/x-www-form-urlencoded" and (media_type or body):
        raise problems.unsupported_media_type()
    try:
        pairs = parse_qsl(body.decode(), max_num_fields=_MOST_FORM_FIELDS, keep_blank_values=True)
    except ValueError:
        raise problems.bad_request(errors=["The request form payload is malformed."]) from None
    fields = {name.lower().replace("_", ""): value for name, value in pairs}
    if len(fields) < len(pairs) or any("\0" in value for value in fields.values()):
        raise problems.bad_request(errors=["The request form payload is malformed."])
    return fields


def integer(text: str | int) -> int:
    """An id of an address or a query; raises a Refusal if it is no integer of 32 bits."""
    try:
        return _number(text, _LARGEST_INTEGER)
    except ValueError:
        raise problems.unreadable_parameter() from None


def _read(request: HttpRequest) -> bytes:
    try:
        return read_body(request, api_settings.MAX_BODY_BYTES)
    except BodyTooLong:
        raise problems.too_large() from None
    except BodyIncomplete:
        raise problems.invalid_json() from None


def _value(member: Member, sent: Mapping[str, Any]) -> Any:
    name = member.name.lower()
    if member.is_required and name not in sent:
        raise problems.invalid_json()
    if name not in sent and member.absent is not None:
        return member.absent
    try:
        return _READERS[member.kind](sent.get(name))
    except (ValueError, TypeError):
        raise problems.invalid_json() from None


def _number(value: Any, largest: int) -> int:
    """Numbers may be texts of digits."""
    if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdecimal() and len(value) <= 20:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -largest <= value < largest:
        raise ValueError(value)
    return value


def _text(value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or "\0" in value):
        raise ValueError(value)
    return value


def _boolean(value: Any) -> bool:
    if value is not None and not isinstance(value, bool):
        raise ValueError(value)
    return bool(value)


def _list_of(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    def read_list(value: Any) -> list[Any]:
        if value is not None and not isinstance(value, list):
            raise ValueError(value)
        return [read(each) for each in value or ()]

    return read_list


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(value)
    return {name.lower(): each for name, each in value.items()}


def _own_object(value: Any) -> dict[str, Any]:
    """With names as they are spelt."""
    if value is not None and not isinstance(value, dict):
        raise ValueError(value)
    return value or {}


def _item_text(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(value)
    return value


_READERS: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.TEXT: _text,
    Kind.BOOLEAN: _boolean,
    Kind.INTEGER: lambda value: 0 if value is None else _number(value, _LARGEST_INTEGER),
    Kind.INTEGERS: _list_of(lambda value: _number(value, _LARGEST_INTEGER)),
    Kind.LONG_INTEGERS: _list_of(lambda value: _number(value, _LARGEST_LONG)),
    Kind.OBJECTS: _list_of(_object),
    Kind.OBJECT: _own_object,
    Kind.TEXTS: _list_of(_item_text),
}
