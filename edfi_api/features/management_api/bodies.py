"""Bodies of requests: reading them, and their members as fields of Django REST framework, with the rules and texts of
Ed-Fi's Configuration Service. Errors as in meadowlark/docs/operate/management-api.md.

Names of members are read in any case, and null is as none. A value of another type makes the body invalid JSON for its
address; every other rule that is broken is reported by member. Fields name their JSON schema themselves
(`openapi_schema.py`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import parse_qsl

import orjson
from django.core.exceptions import ObjectDoesNotExist
from django.http import HttpRequest
from rest_framework import serializers
from rest_framework.fields import SkipField, empty

from edfi_api.common.conf import api_settings
from edfi_api.common.request_body import BodyIncomplete, BodyTooLong, BodyUnreadable, read_body
from edfi_api.features.management_api import problems, texts

LARGEST_INTEGER = 2**31
LARGEST_LONG = 2**63
_MOST_FORM_FIELDS = 100
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AFTER_UNDERSCORE = re.compile(r"(?<=[a-z0-9])_([a-z])")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


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
        raise problems.refused("media type")
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
        raise problems.refused("media type")
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
        raise problems.refused("size") from None
    except BodyIncomplete:
        raise problems.invalid_json() from None
    except BodyUnreadable as error:
        raise problems.unreadable_body(error.reason) from None


def is_empty(value: object) -> bool:
    return value is None or value in (0, []) or (isinstance(value, str) and not value.strip())


def member_name(attribute: str) -> str:
    """The name of a member in JSON: `application_name` → `applicationName`."""
    return _AFTER_UNDERSCORE.sub(lambda found: found[1].upper(), attribute)


def error_key(member: str) -> str:
    """The key of a member in `validationErrors`: `ApplicationName`."""
    return member[:1].upper() + member[1:]


@dataclass(frozen=True)
class BodyRule:
    """A validator: `text` may have `{name}`, the member's in words, and `{length}`, that of the value; `schema` is what
    JSON schemas say of it."""

    is_broken: Callable[[Any], object]
    text: str
    schema: Mapping[str, object] = field(default_factory=dict)
    requires_context: ClassVar[bool] = True

    def __call__(self, value: Any, member: "BodyField") -> None:
        if self.is_broken(value):
            length = len(value) if isinstance(value, str) else 0
            raise serializers.ValidationError(self.text.format(name=_words(member), length=length))

    def __deepcopy__(self, memo: Any) -> "BodyRule":
        return self


def _words(member: "BodyField") -> str:
    """The name of a member in texts, `Application Name`; an item has that of its list."""
    return _WORD.sub(" ", error_key(member.field_name or member.parent.field_name or ""))


def at_most(length: int, text: str = texts.TOO_LONG) -> BodyRule:
    """Limit the length of a text."""
    limited = text.replace("{most}", str(length))
    return BodyRule(lambda value: value is not None and len(value) > length, limited, {"maxLength": length})


def _is_no_address(value: str | None) -> bool:
    return value is not None and (value.count("@") != 1 or value.startswith("@") or value.endswith("@"))


def is_not_positive(value: int | None) -> bool:
    return (value or 0) <= 0


NOT_EMPTY = BodyRule(is_empty, texts.EMPTY, {"minLength": 1})
POSITIVE = BodyRule(is_not_positive, texts.NOT_POSITIVE)
EMAIL = BodyRule(_is_no_address, texts.NO_EMAIL_ADDRESS, {"format": "email"})
# Names appear in logs and on pages.
ONE_LINE = BodyRule(lambda value: value is not None and _CONTROL_CHARACTER.search(value), texts.CONTROL_CHARACTERS)
NO_BLANKS = BodyRule(lambda value: any(each.isspace() for each in value or ""), texts.BLANKS)


def name_rules(longest: int, *more: BodyRule) -> tuple[BodyRule, ...]:
    """The rules of a name: it is not empty, on one line, and at most so long."""
    return (NOT_EMPTY, at_most(longest), *more, ONE_LINE)


class BodyField(serializers.Field[Any, Any, Any, Any]):
    """A member of a body. A PUT that lacks one that `is_kept` leaves it as it is; an answer lacks one that
    `is_optional` where it has no value."""

    # The value of a member that is missing.
    none: Any = None
    schema: ClassVar[Mapping[str, Any]] = {"type": "object"}

    def __init__(
        self, *rules: Callable[..., Any], is_kept: bool = False, is_optional: bool = False, **options: Any
    ) -> None:
        options = {"required": False, "allow_null": True, **options}
        self.is_kept, self.is_optional = is_kept, is_optional
        super().__init__(validators=list(rules), **options)

    def get_value(self, dictionary: Mapping[str, Any]) -> Any:
        return dictionary.get(str(self.field_name).lower(), empty)

    def run_validation(self, data: Any = empty) -> Any:
        """Unlike DRF, apply the rules to a missing value, too: its absence is what they may forbid."""
        if self.read_only or (data is empty and self.is_kept and self.context.get("is_change")):
            raise SkipField
        if data is empty:
            if self.required:
                raise problems.invalid_json()
            data = None if self.default is empty else self.default
        if data is None and not self.allow_null:
            raise problems.invalid_json()
        value = None if data is None else self.to_internal_value(data)
        self.run_validators(value)
        return self.none if value is None else value

    def get_attribute(self, instance: Any) -> Any:
        try:
            value = super().get_attribute(instance)
        except ObjectDoesNotExist:
            value = None
        if value is None and self.is_optional:
            raise SkipField
        return value

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class Text(BodyField):
    """A text, which is stored as an empty one if it is missing. Stored texts cannot contain NUL."""

    none = ""
    schema = {"type": "string"}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or "\0" in data:
            raise problems.invalid_json()
        return data

    def to_representation(self, value: Any) -> Any:
        return str(value)


class Integer(BodyField):
    """An integer of 32 bits, or its digits as a text."""

    largest = LARGEST_INTEGER
    schema = {"type": "integer", "format": "int32"}

    def to_internal_value(self, data: Any) -> Any:
        try:
            return number(data, self.largest)
        except ValueError:
            raise problems.invalid_json() from None


class Long(Integer):
    """An integer of 64 bits."""

    largest = LARGEST_LONG
    schema = {"type": "integer", "format": "int64"}


class Boolean(BodyField):
    """A boolean; `none` is what a missing value means."""

    schema = {"type": "boolean"}

    def __init__(self, *rules: BodyRule, none: bool = False, **options: Any) -> None:
        super().__init__(*rules, **options)
        self.none = none

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, bool):
            raise problems.invalid_json()
        return data


class JsonObject(BodyField):
    """A JSON object."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            raise problems.invalid_json()
        return data


class _LowerCasedObject(JsonObject):
    """A JSON object, with names of its members in lower case."""

    def to_internal_value(self, data: Any) -> Any:
        return {name.lower(): each for name, each in super().to_internal_value(data).items()}


class _List(BodyField, serializers.ListField):
    """A list, which is empty if it is missing. What is wrong with an item is reported by its number."""

    item: ClassVar[type[BodyField]]

    def __init__(self, *rules: BodyRule, of_items: tuple[BodyRule, ...] = (), **options: Any) -> None:
        super().__init__(*rules, child=self.item(*of_items, allow_null=False), **options)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, list):
            raise problems.invalid_json()
        return self.run_child_validation(data)

    def run_validation(self, data: Any = empty) -> Any:
        return super().run_validation(data) or []

    def to_representation(self, value: Any) -> Any:
        return list(value)


class Integers(_List):
    item = Integer


class Longs(_List):
    item = Long


class Texts(_List):
    item = Text


class Objects(_List):
    item = _LowerCasedObject


class BodySerializer(serializers.Serializer[Any]):
    """The shape of bodies or answers: an attribute in snake case is a member in camel case, whose source is the
    attribute of a row of that name unless the field has another."""

    # For the OpenAPI document; ids are those of other items.
    example: ClassVar[Mapping[str, Any]] = {}

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = {}
        for attribute, each in super().get_fields().items():
            name = member_name(attribute)
            if each.source is None and name != attribute:
                each.source = attribute
            fields[name] = each
        return fields

    def read(self, body: Mapping[str, Any]) -> Any:
        """The values of a body, but for the id, by the names of their sources. Raises RequestRefused."""
        try:
            values = self.run_validation(body)
        except serializers.ValidationError as error:
            raise problems.invalid_data(_findings(error.detail)) from None
        values.pop("pk", None)
        return values

    @property
    def members(self) -> list[str]:
        """The names of the members that the body of a request can have."""
        return [str(each.field_name) for each in self._writable_fields]


class ItemSerializer(BodySerializer):
    """An item, which has an id. In version 3 the body of a PUT repeats it."""

    # The field of the id in the body of a PUT.
    id_rules: ClassVar[tuple[BodyRule, ...]] = ()

    id = Integer(source="pk", read_only=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        if self.context.get("repeats_id"):
            fields["id"] = Integer(self._check_id, *self.id_rules, source="pk")
        return fields

    def _check_id(self, value: int | None) -> None:
        if (value or 0) != self.context["id"]:
            raise problems.invalid_data({"Id": [texts.OTHER_ID]})


def _findings(detail: Any) -> dict[str, list[str]]:
    """The texts by key, of an item of a list `EducationOrganizationIds[0]`, of what is in an object
    `ExternalIdentity.Issuer`."""
    found = {}
    for member, each in detail.items():
        parts = each.items() if isinstance(each, dict) else [("", each)]
        for part, messages in parts:
            place = f"[{part}]" if isinstance(part, int) else part and f".{part}"
            found[error_key(member) + place] = [str(text) for text in messages]
    return found
