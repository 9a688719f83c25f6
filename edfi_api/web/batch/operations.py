"""The text of an operation → `Operation`, and what becomes of it: `Result`, `Summary`.

The members of an operation are checked all at once, the document only by its resource.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import json_text, violations
from edfi_api.core.documents.exceptions import DataValidationFailed, DocumentTooLarge, DuplicateProperty, MalformedJson
from edfi_api.core.documents.violations import MOST_REPORTED, Tolerated, Violation, as_many_as_reported
from edfi_api.core.security.profiles.negotiation import is_of_a_profile
from edfi_api.core.storage.write_requests import WriteCondition
from edfi_api.core.writes.rules.ruled_write import Finding
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.web.batch.natural_keys import NaturalKeys
from edfi_api.web.batch.sent_batch import Body
from edfi_api.web.problem_details.http_exceptions import (
    BodyTooLarge,
    InvalidDocumentId,
    MalformedOperations,
    ResourceNotFound,
    UnsupportedMediaType,
)
from edfi_api.web.viewsets.ods_representation import shown_id
from edfi_api.web.viewsets.requests import document_uuid, write_condition


class Kind(StrEnum):
    """The kind of an operation; each is a single request."""

    CREATE = "create"
    UPSERT = "upsert"
    UPDATE = "update"
    DELETE = "delete"

    @property
    def action(self) -> str:
        """The name of the view's action for the single request."""
        return {Kind.UPDATE: "update", Kind.DELETE: "destroy"}.get(self, "create")


@dataclass(slots=True)
class Operation:
    """One operation as it was understood. With a `refusal` the rest may be missing.

    An update or delete has either the id of its document or its natural key, in the form of a body. `if_match`,
    `if_none_match` and `profile` are what the headers of the single request would be. `sent_resource` is the beginning
    of the name of a resource that is unknown.
    """

    position: int
    tag: str | None = None
    kind: Kind | None = None
    resource: Resource | None = None
    sent_resource: str = ""
    document: dict[str, Any] | None = None
    document_uuid: UUID | None = None
    key: dict[str, Any] | None = None
    if_match: str | None = None
    if_none_match: str | None = None
    profile: str = ""
    refusal: Exception | None = None
    # The bytes of its text.
    size: int = 0
    # When it was read, in seconds since 1970: nothing has been done for it before.
    began: float = field(default_factory=time.time)

    @property
    def has_condition(self) -> bool:
        return self.if_match is not None or self.if_none_match is not None

    @property
    def condition(self) -> WriteCondition:
        return write_condition(self.if_match, self.if_none_match)


@dataclass(slots=True)
class Result:
    """The result of an operation, with its members."""

    operation: Operation
    status: int
    id: str = ""
    location: str = ""
    etag: str = ""
    change_version: int = 0
    problem: dict[str, Any] | None = None
    caused_by: int | None = None
    # What was tolerated in the document.
    tolerated: Sequence[Tolerated] = ()
    # The warnings of custom rules.
    warnings: Sequence[Finding] = ()
    # Whether the document had this content already.
    is_unchanged: bool = False
    # Whether a repetition may succeed without any change.
    is_temporary: bool = False

    @property
    def is_refused(self) -> bool:
        return self.status >= 400

    def members(self) -> dict[str, Any]:
        """The JSON object of the result."""
        operation = self.operation
        members: dict[str, Any] = {"index": operation.position}
        if operation.tag is not None:
            members["tag"] = operation.tag
        if operation.kind is not None:
            members["op"] = operation.kind.value
        if operation.resource is not None:
            members["resource"] = operation.resource.served_path
        members["status"] = self.status
        if self.id:
            members["id"] = shown_id(self.id)
        if self.location:
            members |= {"location": self.location, "etag": self.etag, "changeVersion": self.change_version}
        if self.problem is not None:
            members["problem"] = self.problem
        if self.caused_by is not None:
            members["causedBy"] = self.caused_by
        if self.tolerated:
            members["tolerated"] = [{"path": each.path, "reason": each.reason.value} for each in self.tolerated]
        if self.warnings:
            members["warnings"] = [{"path": each.path, "rule": each.rule, "text": each.text} for each in self.warnings]
        return members


def without_frames(refusal: Exception) -> Exception:
    """A refusal that is kept, without the frames in which it was raised, whose variables have decoded documents."""
    refusal.__traceback__ = refusal.__context__ = refusal.__cause__ = None
    return refusal


# A result, and the reason of a refusal.
Attempt = tuple[Result, Exception | None]


@dataclass(slots=True)
class Summary:
    """The last part of an answer."""

    operations: int
    by_status: dict[str, int] = field(default_factory=dict)
    refused: int = 0

    def count(self, result: Result) -> None:
        self.by_status[str(result.status)] = self.by_status.get(str(result.status), 0) + 1
        self.refused += result.is_refused

    @property
    def done(self) -> int:
        return sum(self.by_status.values())

    @property
    def not_done(self) -> int:
        return self.operations - self.done

    def members(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "summary": {
                "operations": self.operations,
                "succeeded": self.done - self.refused,
                "refused": self.refused,
                "notDone": self.not_done,
                "byStatus": dict(sorted(self.by_status.items())),
            }
        }


# Beside the document, an operation has members of a few hundred bytes.
_MEMBERS_BYTES = 64 * 1024
_LONGEST_TAG = 100
_LONGEST_UNKNOWN = 100
_OF_ALL = {"op", "resource", "ifMatch", "ifNoneMatch", "tag"}
_OF_WRITES, _OF_STORED = {"document", "profile"}, {"id", "naturalKey"}
_MEMBERS = {
    Kind.CREATE: _OF_ALL | _OF_WRITES,
    Kind.UPSERT: _OF_ALL | _OF_WRITES,
    Kind.UPDATE: _OF_ALL | _OF_WRITES | _OF_STORED,
    Kind.DELETE: _OF_ALL | _OF_STORED,
}
_EVERY_MEMBER = _OF_ALL | _OF_WRITES | _OF_STORED
_TEXTS = ("op", "resource", "id", "ifMatch", "ifNoneMatch", "profile", "tag")
_OBJECTS = ("document", "naturalKey")
_DOCUMENT_PATH = "$.document."
# The condition `ifNoneMatch` of a create.
_NO_DOCUMENT = "*"


def most_bytes() -> int:
    """A longer text has a document that is longer than a single one may be; such texts are not parsed."""
    return int(api_settings.MAX_BODY_BYTES) + _MEMBERS_BYTES


def refuse_unreadable(body: Body) -> None:
    """Raise MalformedOperations with all texts that are no JSON objects, or have a member twice."""
    found: dict[int, Exception] = {}
    for position in range(len(body)):
        try:
            if body.length(position) <= most_bytes():
                json_text.parse_object(body.text(position))
        except (MalformedJson, DuplicateProperty) as error:
            found[position] = without_frames(error)
            if len(found) > MOST_REPORTED:
                break
        except DocumentTooLarge:
            pass  # Refused by itself.
    if found:
        raise MalformedOperations(found)


class OperationReader:
    """Reads the operations of one surface."""

    def __init__(self, surface: Surface, natural_keys: NaturalKeys) -> None:
        self._by_path = surface.by_endpoint
        self._by_name: dict[str, list[Resource]] = {}
        for resource in surface.resources:
            self._by_name.setdefault(resource.name.resource.lower(), []).append(resource)
        self._natural_keys = natural_keys

    def read(self, position: int, text: bytes) -> Operation:
        """The operation; what is wrong with it is its `refusal`."""
        operation = Operation(position, size=len(text))
        try:
            members = _parsed(text)
            self._understand(members, operation)
            if operation.document is not None and len(text) > api_settings.MAX_BODY_BYTES:
                _refuse_too_long(operation.document)
        except _REFUSALS as refusal:
            operation.refusal = without_frames(refusal)
        return operation

    def _understand(self, sent: dict[str, Any], operation: Operation) -> None:
        members = {name: value for name, value in sent.items() if name in _EVERY_MEMBER and value is not None}
        found = [violations.impossible_member(f"$.{name}") for name in sent if name not in _EVERY_MEMBER]
        found += _wrong_types(members)
        if not found and "tag" in members and len(members["tag"]) > _LONGEST_TAG:
            found.append(violations.too_long("$.tag", _LONGEST_TAG))
        elif isinstance(tag := members.get("tag"), str):
            operation.tag = tag
        operation.kind = kind = _kind(members, found)
        operation.resource = resource = self._resource(members, found)
        if resource is None:
            operation.sent_resource = _unknown(members)
        if kind is not None:
            found += _misplaced(kind, members)
        if not found and resource is not None and "naturalKey" in members:
            operation.key, wrong = self._natural_keys.read(resource, members["naturalKey"])
            found += wrong
        if found:
            raise DataValidationFailed(as_many_as_reported(found))
        if resource is None:
            raise ResourceNotFound
        self._take(members, operation)

    def _resource(self, members: Mapping[str, Any], found: list[Violation]) -> Resource | None:
        """Return the resource, or None if it is unknown, or if there are violations anyway."""
        name = members.get("resource")
        if not isinstance(name, str):
            return None
        if "/" in name:
            project, _, endpoint = name.strip("/").lower().partition("/")
            return self._by_path.get((project, endpoint))
        named = self._by_name.get(name.lower(), [])
        if len(named) > 1:
            paths = ", ".join(resource.url_path for resource in named)
            found.append(violations.unknown_rule("$.resource", f"resource is ambiguous; it may be one of: {paths}."))
        return named[0] if len(named) == 1 else None

    def _take(self, members: Mapping[str, Any], operation: Operation) -> None:
        if "id" in members:
            operation.document_uuid = document_uuid(members["id"])
        if "document" in members:
            operation.document = members["document"]
        operation.if_match, operation.if_none_match = members.get("ifMatch"), members.get("ifNoneMatch")
        if operation.kind is Kind.CREATE:
            operation.if_none_match = _NO_DOCUMENT
        if "profile" in members:
            operation.profile = members["profile"]
            if not is_of_a_profile(operation.profile):
                raise UnsupportedMediaType


class SentOperations:
    """The operations of a batch by position, each read when it is needed."""

    def __init__(self, reader: OperationReader, body: Body) -> None:
        self._reader = reader
        self._body = body

    def __len__(self) -> int:
        return len(self._body)

    def cost(self, position: int) -> int:
        """The estimated bytes in memory of an operation that is carried out."""
        return self._body.costs[position]

    def read(self, position: int) -> Operation:
        return self._reader.read(position, self._body.text(position))


_REFUSALS = (
    BodyTooLarge,
    DataValidationFailed,
    DocumentTooLarge,
    DuplicateProperty,
    InvalidDocumentId,
    MalformedJson,
    ResourceNotFound,
    UnsupportedMediaType,
)


def _parsed(text: bytes) -> dict[str, Any]:
    if len(text) > most_bytes():
        raise BodyTooLarge(api_settings.MAX_BODY_BYTES)
    try:
        return json_text.parse_object(text)
    except DuplicateProperty as error:
        # In the document alone they have the paths that the single request would name.
        if not all(path.startswith(_DOCUMENT_PATH) for path in error.paths):
            raise
        raise DuplicateProperty([f"$.{path.removeprefix(_DOCUMENT_PATH)}" for path in error.paths]) from error


def _refuse_too_long(document: dict[str, Any]) -> None:
    if len(json_text.dumps(document)) > api_settings.MAX_BODY_BYTES:
        raise BodyTooLarge(api_settings.MAX_BODY_BYTES)


def _wrong_types(members: Mapping[str, Any]) -> list[Violation]:
    return [
        violations.wrong_type(f"$.{name}", _type_name(members[name]), expected)
        for names, type_, expected in ((_TEXTS, str, "string"), (_OBJECTS, dict, "object"))
        for name in names
        if name in members and not isinstance(members[name], type_)
    ]


def _unknown(members: Mapping[str, Any]) -> str:
    """The name of an unknown resource, cut."""
    name = members.get("resource")
    return name[:_LONGEST_UNKNOWN] if isinstance(name, str) else ""


def _type_name(value: Any) -> str:
    names: dict[type, str] = {bool: "boolean", int: "integer", str: "string", dict: "object", list: "array"}
    return names.get(type(value), "number")


def _kind(members: Mapping[str, Any], found: list[Violation]) -> Kind | None:
    sent = members.get("op")
    if sent is None:
        return Kind.UPSERT
    if not isinstance(sent, str):
        return None
    if sent.lower() not in list(Kind):
        found.append(violations.not_one_of("$.op", list(Kind)))
        return None
    return Kind(sent.lower())


def _misplaced(kind: Kind, members: Mapping[str, Any]) -> Iterator[Violation]:
    """Members that the kind does not have, or needs."""
    for name in members:
        if name not in _MEMBERS[kind]:
            yield violations.impossible_member(f"$.{name}")
    if "resource" not in members:
        yield violations.required("$.resource")
    if kind is not Kind.DELETE and "document" not in members:
        yield violations.required("$.document")
    if kind in (Kind.UPDATE, Kind.DELETE):
        if "id" in members and "naturalKey" in members:
            yield violations.given_twice("$.naturalKey", "id")
        elif "id" not in members and "naturalKey" not in members:
            yield violations.required("$.id")
