"""Results → events for the sinks of the change stream, in the order of their versions and at least once.

A consumer has a position of its own, in versions of results. Runs publish under a lock, so versions become visible in
their order, and none is missed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.db import connections

from edfi_api.changes.change_stream.exceptions import ConsumerIsBusy
from edfi_api.changes.change_stream.sinks.sink import Sink

RESOURCE = "validation/validationResults"

_BATCH = 500
# Positions of consumers of changes are other numbers, so their locks are others, too.
_LOCK = "SELECT pg_try_advisory_lock(hashtextextended('meadowlark validation_consumer ' || %s, 0))"
_UNLOCK = "SELECT pg_advisory_unlock(hashtextextended('meadowlark validation_consumer ' || %s, 0))"
_REGISTER = "INSERT INTO validation_consumer (name) VALUES (%s) ON CONFLICT DO NOTHING"
_POSITION = "SELECT validation_version FROM validation_consumer WHERE name = %s"
_MOVE = "UPDATE validation_consumer SET validation_version = %s WHERE name = %s"
# A result that changed and was resolved since the last reading is one event, with its last state.
_EVENTS = """
SELECT d.validation_version,
       CASE WHEN d.resolved_at IS NOT NULL THEN 'resolved' WHEN d.is_changed THEN 'changed' ELSE 'appeared' END,
       d.result_uuid, replace(d.result_key::text, '-', '') || '-' || d.episode, v.source, v.identifier, v.severity,
       v.resource, d.document_uuid, d.natural_key, d.organization, d.message, coalesce(d.resolved_at, d.appeared_at)
  FROM validation_result d JOIN validation_rule v ON v.id = d.rule_id
 WHERE d.validation_version > %s ORDER BY d.validation_version LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """A result that appeared, changed or was resolved."""

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

    @property
    def data_store(self) -> None:
        """Not named: events are published for one database at a time."""
        return None

    @property
    def resource(self) -> str:
        return RESOURCE

    def line(self) -> bytes:
        """One line of JSON, with a newline at the end."""
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
        return orjson.dumps(members, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)


def stream_results(consumer: str, sink: Sink, using: str, start: int | None = None) -> int:
    """Send all current events after the consumer's position, or after version `start`. Returns their number.

    Raises ConsumerIsBusy, and SinkFailed; the position is then after the last batch that the sink has accepted.
    """
    with connections[using].cursor() as cursor:
        if not cursor.execute(_LOCK, [consumer]).fetchone()[0]:
            raise ConsumerIsBusy(consumer)
        try:
            cursor.execute(_REGISTER, [consumer])
            if start is not None:
                cursor.execute(_MOVE, [start, consumer])
            return sum(len(batch) for batch in _batches(cursor, consumer, sink))
        finally:
            cursor.execute(_UNLOCK, [consumer])


def _batches(cursor: Any, consumer: str, sink: Sink) -> Iterator[Sequence[ResultEvent]]:
    """Each batch, after it was sent and the position has moved."""
    while True:
        position = cursor.execute(_POSITION, [consumer]).fetchone()[0]
        batch = [ResultEvent(*row) for row in cursor.execute(_EVENTS, [position, _BATCH])]
        if not batch:
            return
        sink.send(batch)
        cursor.execute(_MOVE, [batch[-1].version, consumer])
        yield batch
