"""The log of documents: their changes, in the order of their versions, each with its form as a line of JSON."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

import orjson
from django.db import DEFAULT_DB_ALIAS, connections

from edfi_api.core.documents import json_text
from edfi_api.core.models import ResourceType
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.features.changes.change_queries.models import DOCUMENTS
from edfi_api.features.changes.change_stream.exceptions import UnknownResource
from edfi_api.features.changes.change_stream.log import EventBatch, Newest, Origin, origin_of
from edfi_api.model.surface.naming import url_segment
from edfi_api.model.surface.resource import Resource

_FEW, _MANY = 500, 2_000
_SMALLEST_SPAN = 2 * _MANY

# One branch per resource type, so that each table is read by an index that starts with the type.
_BATCH = """
SELECT c.change_version, c.operation, c.resource_type_id, c.document_uuid, c.natural_key, c.body::text,
       c.client, c.changed_at, k.old_key_values::text
  FROM unnest(%(types)s::smallint[]) AS type
 CROSS JOIN LATERAL (
    SELECT * FROM document_change
     WHERE resource_type_id = type AND change_version > %(after)s AND change_version <= %(upto)s
 ) c
  LEFT JOIN key_change k ON c.operation = 'key_change'
        AND k.resource_type_id = c.resource_type_id AND k.change_version = c.change_version
 ORDER BY c.change_version
"""
_KEYS = "SELECT id, client_id::text FROM security_apiclient WHERE id = ANY (%(clients)s)"


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
        """Return the change as a line of JSON, with a newline at the end."""
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


class DocumentLog:
    """Versions of documents, and their deletions."""

    name = DOCUMENTS
    resource = None
    verbose_name = "changes of documents"
    # The minimum over the first unread change of each resource type, which an index finds.
    first_after = """
    SELECT first.changed_at FROM resource_type t CROSS JOIN LATERAL (
        SELECT changed_at, change_version FROM document_change d
         WHERE d.resource_type_id = t.id AND d.change_version > c.change_version
         ORDER BY d.change_version LIMIT 1
    ) first ORDER BY first.change_version LIMIT 1
    """

    def resources(self, paths: Collection[str]) -> tuple[Resource, ...]:
        """Return the resources of the surface with these paths, case-insensitively. Raises UnknownResource."""
        found = {path: current_surface().resource_at(path) for path in paths}
        for path, resource in found.items():
            if resource is None:
                raise UnknownResource(path)
        return tuple({each.name: each for each in found.values() if each}.values())

    def reader(self, resources: Collection[Resource], using: str) -> "ChangeReader":
        return ChangeReader(resources, using)

    def event(self, line: str) -> Change:
        return Change.from_line(line)


class ChangeReader:
    """Reads the changes of some resources, or of all."""

    def __init__(self, resources: Collection[Resource] = (), using: str = DEFAULT_DB_ALIAS) -> None:
        self._using = using
        self._paths = _paths(using)
        self._origin = origin_of(using)
        self._keys: dict[int, str | None] = {}
        numbers = resource_types.numbers(using)
        self._types = [numbers[resource.name] for resource in resources] or list(self._paths)

    def batches(self, after: int, newest: Newest) -> Iterator[EventBatch]:
        """All changes after a version up to the settled one. Empty batches are included: they advance the position."""
        span = _SMALLEST_SPAN
        while after < newest.settled:
            upto = min(after + span, newest.settled)
            batch = EventBatch(self._changes(after, upto), upto)
            yield batch
            after = upto
            if len(batch.events) < _FEW:
                span *= 4
            elif len(batch.events) > _MANY:
                span = max(span // 4, _SMALLEST_SPAN)

    def _changes(self, after: int, upto: int) -> list[Change]:
        rows = self._rows(_BATCH, {"types": self._types, "after": after, "upto": upto})
        self._learn_keys({client for *_, client, _, _ in rows if client is not None})
        return [self._change(row) for row in rows]

    def _learn_keys(self, clients: set[int]) -> None:
        """Read the keys of clients, which are in the admin database, and never change."""
        unknown = clients - self._keys.keys()
        if unknown:
            with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
                self._keys |= dict(cursor.execute(_KEYS, {"clients": list(unknown)}))
            self._keys |= dict.fromkeys(unknown - self._keys.keys())

    def _change(self, row: Sequence[Any]) -> Change:
        version, operation, resource_type, document_uuid, natural_key, text, client, changed_at, old = row
        return Change(
            version=version,
            operation=Operation(operation),
            resource=self._paths[resource_type],
            document_uuid=document_uuid,
            natural_key=natural_key,
            text=text,
            client=self._keys.get(client),
            changed_at=changed_at,
            old_key_values=None if old is None else json_text.loads(old.encode()),
            origin=self._origin,
        )

    def _rows(self, statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        with connections[self._using].cursor() as cursor:
            return list(cursor.execute(statement, parameters))


def _paths(using: str) -> dict[int, str]:
    """Resource type → `ed-fi/students`. The table also has resources of earlier data standards."""
    rows = ResourceType.objects.using(using)
    return {row.id: f"{url_segment(row.project)}/{row.endpoint}" for row in rows}
