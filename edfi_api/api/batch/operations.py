"""An operation of a batch, and what becomes of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from edfi_api.documents.leniency import Tolerated
from edfi_api.model.surface.resource import Resource


class Kind(StrEnum):
    """What an operation does; each is a single request."""

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

    An update or delete has either the id of its document or its natural key, in the form of a body. `headers` are those
    of the single request that differ from the batch's, by their names in WSGI. `sent_resource` is the beginning of the
    name of a resource that is unknown.
    """

    position: int
    tag: str | None = None
    kind: Kind | None = None
    resource: Resource | None = None
    sent_resource: str = ""
    document: dict[str, Any] | None = None
    document_uuid: UUID | None = None
    key: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    refusal: Exception | None = None
    # The bytes of its text.
    size: int = 0
    # When it was read, in seconds since 1970: nothing has been done for it before.
    began: float = field(default_factory=time.time)


@dataclass(slots=True)
class Result:
    """What became of an operation: the members of its result."""

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
            members["resource"] = operation.resource.url_path
        members["status"] = self.status
        if self.id:
            members["id"] = self.id
        if self.location:
            members |= {"location": self.location, "etag": self.etag, "changeVersion": self.change_version}
        if self.problem is not None:
            members["problem"] = self.problem
        if self.caused_by is not None:
            members["causedBy"] = self.caused_by
        if self.tolerated:
            members["tolerated"] = [{"path": each.path, "reason": each.reason.value} for each in self.tolerated]
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
