"""Bodies of requests: HTTP request → msgspec struct, checked by the rules in its annotations.

A struct is what a resource reads, and what the OpenAPI document is made of. Errors as in
meadowlark/docs/operate/management-api.md.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec
import orjson
from django.http import HttpRequest
from msgspec import UNSET, UnsetType

from edfi_api.common.conf import api_settings
from edfi_api.common.request_body import BodyIncomplete, BodyTooLong, BodyUnreadable, read_body
from edfi_api.features.management_api import problems, texts

_LARGEST_INTEGER = 2**31
_LARGEST_LONG = 2**63
_MOST_FORM_FIELDS = 100
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AFTER_UNDERSCORE = re.compile(r"(?<=[a-z0-9])_([a-z])")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Int32(int):
    """An integer, or its digits as a text."""


class Int64(int):
    """The same with 64 bits."""


class LowerCasedObject(dict[str, Any]):
    """A JSON object, with names of members in lower case."""


# Stored texts cannot contain NUL.
String = Annotated[str, msgspec.Meta(pattern=r"\A[^\0]*\Z")]
Text = String | None
Integer = Int32 | None
Boolean = bool | None
Integers = list[Int32] | None
LongIntegers = list[Int64] | None
Texts = list[String] | None
Objects = list[LowerCasedObject] | None

# Key in `validationErrors`, and the text.
Finding = tuple[str, str]


@dataclass(frozen=True)
class BodyRule:
    """`find` yields what is wrong with the value of a member; `schema` is what JSON schemas say of it."""

    find: Callable[["BodyMember", Any], Iterator[Finding]]
    schema: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class BodyMember:
    """A member of a body or of an answer. A request that lacks one that `is_required` is no valid JSON for its
    address."""

    name: str
    attribute: str
    schema: Mapping[str, Any]
    rules: tuple[BodyRule, ...]
    is_required: bool

    @property
    def key(self) -> str:
        """In `validationErrors`: `ApplicationName`."""
        return self.name[:1].upper() + self.name[1:]

    @property
    def words(self) -> str:
        """In texts: `Application Name`."""
        return _WORD.sub(" ", self.key)


class ManagementBody(msgspec.Struct, frozen=True, kw_only=True, rename=lambda name: name.replace("_", "")):
    """The base of all bodies. Names of members are read in any case. A value of null is as none; where the absence of a
    member means something else, it is `UNSET`."""

    # For the OpenAPI document; ids are those of other items.
    example: ClassVar[Mapping[str, Any]] = {}

    def translated(self) -> "ManagementBody":
        """The body as version 3 has it."""
        return self


_Body = TypeVar("_Body", bound=ManagementBody)


def read(request: HttpRequest, body: type[_Body], id_in_address: int | None = None) -> _Body:
    """The checked body of a request; with `id_in_address` it has to have the same `id`. Raises RequestRefused."""
    try:
        found = msgspec.convert(read_object(request), body, dec_hook=_decoded)
    except (msgspec.ValidationError, RecursionError):
        raise problems.invalid_json() from None
    if id_in_address is not None and (getattr(found, "id", None) or 0) != id_in_address:
        raise problems.invalid_data({"Id": [texts.OTHER_ID]})
    check(found)
    return found


def check(body: ManagementBody) -> None:
    """Raise RequestRefused with all broken rules."""
    found: dict[str, list[str]] = {}
    for member in members_of(type(body)):
        value = getattr(body, member.attribute)
        for rule in member.rules if value is not UNSET else ():
            for key, text in rule.find(member, value):
                found.setdefault(key, []).append(text)
    if found:
        raise problems.invalid_data(found)


@cache
def members_of(body: type[ManagementBody]) -> tuple[BodyMember, ...]:
    """The members of a body, an `id` first."""
    hints = get_type_hints(body, include_extras=True)
    fields = sorted(msgspec.structs.fields(body), key=lambda field: field.name != "id")
    return tuple(_member(field.name, hints[field.name], is_required=field.required) for field in fields)


def _member(attribute: str, hint: Any, *, is_required: bool) -> BodyMember:
    type_, *metadata = get_args(hint) if get_origin(hint) is Annotated else [hint]
    rules = tuple(each for each in metadata if isinstance(each, BodyRule))
    name = _AFTER_UNDERSCORE.sub(lambda found: found[1].upper(), attribute)
    return BodyMember(name, attribute, _schema(type_), rules, is_required)


def _schema(hint: Any) -> dict[str, Any]:
    """The JSON schema of a type; numbers and booleans that may be null are described without it."""
    if get_origin(hint) is Annotated:
        return _schema(get_args(hint)[0])
    if get_origin(hint) is list:
        return {"type": "array", "items": _schema(get_args(hint)[0])}
    if get_origin(hint) is dict:
        return {"type": "object"}
    if hint in _SCHEMAS:
        return dict(_SCHEMAS[hint])
    [some] = [each for each in get_args(hint) if each not in (NoneType, UnsetType)]
    schema = _schema(some)
    return schema if schema["type"] in ("integer", "boolean") else schema | {"nullable": True}


_SCHEMAS: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    Int32: {"type": "integer", "format": "int32"},
    Int64: {"type": "integer", "format": "int64"},
    LowerCasedObject: {"type": "object"},
}


def _decoded(type_: type[Any], value: Any) -> Any:
    """A value of one of our own types. Raises ValueError."""
    if type_ is LowerCasedObject:
        if not isinstance(value, dict):
            raise ValueError(value)
        return LowerCasedObject({name.lower(): each for name, each in value.items()})
    return type_(_number(value, _LARGEST_LONG if type_ is Int64 else _LARGEST_INTEGER))


def _number(value: Any, largest: int) -> int:
    """Numbers may be texts of digits."""
    if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdecimal() and len(value) <= 20:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -largest <= value < largest:
        raise ValueError(value)
    return value


def int32(text: str) -> int:
    """An integer of 32 bits; raises ValueError."""
    return _number(text, _LARGEST_INTEGER)


def integer(text: str | int) -> int:
    """An id of an address or a query; raises RequestRefused if it is no integer of 32 bits."""
    try:
        return _number(text, _LARGEST_INTEGER)
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


def rule(broken: Callable[[Any], object], text: str, *schema: tuple[str, object]) -> BodyRule:
    """`text` may have `{name}`, the member's in words, and `{length}`, that of the value."""

    def find(member: BodyMember, value: Any) -> Iterator[Finding]:
        if broken(value):
            yield member.key, text.format(name=member.words, length=len(value) if isinstance(value, str) else 0)

    return BodyRule(find, schema)


def at_most(length: int, text: str = texts.TOO_LONG) -> BodyRule:
    """A text is at most so long."""
    limited = text.replace("{most}", str(length))
    return rule(lambda value: value is not None and len(value) > length, limited, ("maxLength", length))


def name_rule(longest: int, *more: BodyRule) -> BodyRule:
    """A text that is not empty, on one line, and at most so long."""
    return all_of(NOT_EMPTY, at_most(longest), *more, ONE_LINE)


def all_of(*rules: BodyRule) -> BodyRule:
    """All of the rules as one."""

    def find(member: BodyMember, value: Any) -> Iterator[Finding]:
        for each in rules:
            yield from each.find(member, value)

    return BodyRule(find, tuple(item for each in rules for item in each.schema))


def _each_positive(member: BodyMember, value: list[int] | None) -> Iterator[Finding]:
    for number, each in enumerate(value or ()):
        if each <= 0:
            yield f"{member.key}[{number}]", texts.NOT_POSITIVE.format(name=member.words)


def _is_no_address(value: str | None) -> bool:
    return value is not None and (value.count("@") != 1 or value.startswith("@") or value.endswith("@"))


NOT_EMPTY = rule(is_empty, texts.EMPTY, ("minLength", 1))
POSITIVE = rule(lambda value: (value or 0) <= 0, texts.NOT_POSITIVE)
EACH_POSITIVE = BodyRule(_each_positive)
EMAIL = rule(_is_no_address, texts.NO_EMAIL_ADDRESS, ("format", "email"))
# Names appear in logs and on pages.
ONE_LINE = rule(lambda value: value is not None and _CONTROL_CHARACTER.search(value), texts.CONTROL_CHARACTERS)
NO_BLANKS = rule(lambda value: any(each.isspace() for each in value or ""), texts.BLANKS)
