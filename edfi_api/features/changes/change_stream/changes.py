"""Changes of documents, and their representation as a line of JSON."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

import orjson

from edfi_api.core.documents import json_text
from edfi_api.features.changes.change_stream.log import Origin


class Operation(StrEnum):
    """The values are those of the database."""

    INSERT = "insert"
    UPDATE = "update"
    KEY_CHANGE = "key_change"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Change:
    """A version of a document, or its deletion.

    `text` is the JSON of the body after the change; for a delete the last body, None once it has been purged.
    `resource` has the form `ed-fi/students`, `client` is the key of the API client. `old_key_values` is set for changes
    of the identity, `origin` for those in a data store.
    """

    version: int
    operation: Operation
    resource: str
    document_uuid: UUID
    natural_key: str
    text: str | None
    client: str | None
    changed_at: datetime
    old_key_values: dict[str, Any] | None = None
    origin: Origin | None = None

    @property
    def body(self) -> dict[str, Any] | None:
        """The parsed body; parsed at each access."""
        return None if self.text is None else json_text.loads(self.text.encode())

    @classmethod
    def from_line(cls, line: str) -> Self:
        """The change in a line written by `line`."""
        members = json_text.loads(line.encode())
        body = members["body"]
        return cls(
            version=members["changeVersion"],
            operation=Operation(members["operation"]),
            resource=members["resource"],
            document_uuid=UUID(members["id"]),
            natural_key=members["naturalKey"],
            text=None if body is None else json_text.dumps(body).decode(),
            client=members["client"],
            changed_at=datetime.fromisoformat(members["time"]),
            old_key_values=members.get("oldKeyValues"),
            origin=Origin.in_line(members),
        )

    @property
    def data_store(self) -> int | None:
        """The id of its data store."""
        return None if self.origin is None else self.origin.data_store

    def line(self) -> bytes:
        """One line of JSON, with a newline at the end."""
        members = {
            "changeVersion": self.version,
            "operation": self.operation,
            "resource": self.resource,
            "id": self.document_uuid,
            "naturalKey": self.natural_key,
            "time": self.changed_at,
            "client": self.client,
        }
        if self.origin is not None:
            members |= self.origin.members
        if self.old_key_values is not None:
            members["oldKeyValues"] = self.old_key_values
        members["body"] = None if self.text is None else orjson.Fragment(self.text)
        return orjson.dumps(
            members, default=json_text.exact_number, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
        )
