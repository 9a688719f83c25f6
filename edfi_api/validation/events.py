"""Results → events for the sinks of the change stream, in the order of their versions and at least once.

A consumer has a position of its own, in versions of results. Runs publish under a lock, so versions become visible in
their order, and none is missed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
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
       v.resource, d.document_uuid, d.natural_key, d.organization, d.message,
       coalesce(d.resolved_at, d.changed_at, d.appeared_at)
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


class Position:
    """How far a consumer has received events, held by one process at a time. Entering the context takes the lock."""

    def __init__(self, consumer: str, using: str) -> None:
        self._consumer = consumer
        self._using = using

    def __enter__(self) -> Self:
        """Raises ConsumerIsBusy if another process holds it."""
        if not self._execute(_LOCK, [self._consumer]).fetchone()[0]:
            raise ConsumerIsBusy(self._consumer)
        self._execute(_REGISTER, [self._consumer])
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_usable():
            self._execute(_UNLOCK, [self._consumer])

    def is_usable(self) -> bool:
        """Whether the connection to the database is."""
        return connections[self._using].is_usable()

    def next_events(self) -> list[ResultEvent]:
        """The events behind the position; none if there are no more."""
        [position] = self._execute(_POSITION, [self._consumer]).fetchone()
        return [ResultEvent(*row) for row in self._execute(_EVENTS, [position, _BATCH])]

    def move_to(self, version: int) -> None:
        """Record that all events up to this version were received."""
        self._execute(_MOVE, [version, self._consumer])

    def _execute(self, statement: str, parameters: Sequence[Any]) -> Any:
        return connections[self._using].cursor().execute(statement, parameters)


def stream_results(consumer: str, sink: Sink, using: str, start: int | None = None) -> int:
    """Send all current events after the consumer's position, or after version `start`. Returns their number.

    Raises ConsumerIsBusy, and SinkFailed; the position is then after the last batch that the sink has accepted.
    """
    sent = 0
    with Position(consumer, using) as position:
        if start is not None:
            position.move_to(start)
        while events := position.next_events():
            sink.send(events)
            position.move_to(events[-1].version)
            sent += len(events)
    return sent
