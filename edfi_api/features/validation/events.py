"""Results of validation as a log of the change stream: each result that appears, changes or is resolved."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

import orjson
from django.db import connections

from edfi_api.features.changes.change_stream.exceptions import StreamedByItself
from edfi_api.features.changes.change_stream.log import EventBatch, Newest, Origin, origin_of
from edfi_api.model.surface.resource import Resource

RESOURCE = "validation/validationResults"

_BATCH = 500
# A result that changed and was resolved since the last reading is one event, with its last state.
_EVENTS = """
SELECT d.validation_version,
       CASE WHEN d.resolved_at IS NOT NULL THEN 'resolved' WHEN d.is_changed THEN 'changed' ELSE 'appeared' END,
       d.result_uuid, replace(d.result_key::text, '-', '') || '-' || d.episode, v.source, v.identifier, v.severity,
       v.resource, d.document_uuid, d.natural_key, d.organization, d.message,
       coalesce(d.resolved_at, d.changed_at, d.appeared_at)
  FROM validation_result d JOIN validation_rule v ON v.id = d.rule_id
 WHERE d.validation_version > %s AND d.validation_version <= %s ORDER BY d.validation_version LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """A result that appeared, changed or was resolved; `origin` is set for those in a data store."""

    origin: Origin | None
    version: int
    operation: str
    result_uuid: UUID
    result_identifier: str
    rule_source: str
    rule_identifier: str
    severity: str
    resource_type: str
    document_uuid: UUID | None
    natural_key: str | None
    organization: int | None
    message: str
    changed_at: datetime

    @classmethod
    def from_line(cls, line: str) -> Self:
        """The event in a line written by `line`."""
        members = orjson.loads(line)
        document = members["resourceId"]
        return cls(
            origin=Origin.in_line(members),
            version=members["changeVersion"],
            operation=members["operation"],
            result_uuid=UUID(members["id"]),
            result_identifier=members["resultIdentifier"],
            rule_source=members["ruleSource"],
            rule_identifier=members["ruleIdentifier"],
            severity=members["severity"],
            resource_type=members["resourceType"],
            document_uuid=None if document is None else UUID(document),
            natural_key=members["naturalKey"],
            organization=members["educationOrganizationId"],
            message=members["message"],
            changed_at=datetime.fromisoformat(members["time"]),
        )

    @property
    def data_store(self) -> int | None:
        """The id of its data store."""
        return None if self.origin is None else self.origin.data_store

    @property
    def resource(self) -> str:
        return RESOURCE

    def line(self) -> bytes:
        """Return the event as a line of JSON, with a newline at the end."""
        members: dict[str, Any] = {
            "changeVersion": self.version,
            "operation": self.operation,
            "resource": RESOURCE,
            "id": self.result_uuid,
            "resultIdentifier": self.result_identifier,
            "ruleSource": self.rule_source,
            "ruleIdentifier": self.rule_identifier,
            "severity": self.severity,
            "resourceType": self.resource_type,
            "resourceId": self.document_uuid,
            "naturalKey": self.natural_key,
            "educationOrganizationId": self.organization,
            "message": self.message,
            "time": self.changed_at,
        }
        if self.origin is not None:
            members |= self.origin.members
        return orjson.dumps(members, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)


class ResultLog:
    """The results of all rules."""

    name = "validation"
    resource = RESOURCE
    verbose_name = "results of validation"
    first_after = """
    SELECT coalesce(d.resolved_at, d.changed_at, d.appeared_at) FROM validation_result d
     WHERE d.validation_version > c.change_version ORDER BY d.validation_version LIMIT 1
    """

    def resources(self, paths: Collection[str]) -> tuple[Resource, ...]:
        """Return none: results are no documents of a resource. Raises StreamedByItself."""
        if any(path.lower() != RESOURCE.lower() for path in paths):
            raise StreamedByItself(RESOURCE)
        return ()

    def reader(self, resources: Collection[Resource], using: str) -> "_ResultReader":
        return _ResultReader(using, origin_of(using))

    def event(self, line: str) -> ResultEvent:
        return ResultEvent.from_line(line)


@dataclass(frozen=True, slots=True)
class _ResultReader:
    using: str
    origin: Origin | None

    def batches(self, after: int, newest: Newest) -> Iterator[EventBatch]:
        while after < newest.settled:
            with connections[self.using].cursor() as cursor:
                rows = cursor.execute(_EVENTS, [after, newest.settled, _BATCH]).fetchall()
            events = [ResultEvent(self.origin, *row) for row in rows]
            after = events[-1].version if len(events) == _BATCH else newest.settled
            yield EventBatch(events, after)
