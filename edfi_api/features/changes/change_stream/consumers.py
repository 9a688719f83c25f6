"""Named consumers of a log and their positions, which are stored in the database and advance after delivery.

Changes of documents that a consumer has not received yet are not purged, so unused consumers should be deleted in the
admin.
"""

from dataclasses import dataclass
from typing import Self

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet

from edfi_api.features.changes.change_queries.models import DOCUMENTS, ChangeConsumer
from edfi_api.features.changes.change_stream.exceptions import ConsumerIsBusy
from edfi_api.features.changes.change_stream.log import logs

# Advisory locks with two-part keys do not collide with the single-part keys of change versions. PostgreSQL releases
# them when the session ends for any reason.
_LOCK = "SELECT pg_try_advisory_lock(change_version_lock()::integer, hashtext(%s))"
_UNLOCK = "SELECT pg_advisory_unlock(change_version_lock()::integer, hashtext(%s))"
_LAGS = """
SELECT c.log, c.name, c.change_version, coalesce(extract(epoch FROM now() - ({first_after})), 0)::float
  FROM change_consumer c WHERE c.log = %s ORDER BY c.name
"""


class Consumer:
    """A consumer, held by one process at a time. Entering the context takes the lock, and creates the row if needed."""

    def __init__(self, name: str, using: str = DEFAULT_DB_ALIAS, log: str = DOCUMENTS) -> None:
        self.name = name
        self._using = using
        self._log = log

    def __enter__(self) -> Self:
        """Raises ConsumerIsBusy if another process holds the consumer."""
        if not self._is_true(_LOCK):
            raise ConsumerIsBusy(self.name)
        ChangeConsumer.objects.using(self._using).get_or_create(log=self._log, name=self.name)
        return self

    def __exit__(self, *_: object) -> None:
        if connections[self._using].is_usable():
            self._is_true(_UNLOCK)

    @property
    def position(self) -> int:
        """The version up to which all events are delivered; 0 for a new consumer."""
        return int(self._row().values_list("change_version", flat=True).get())

    def move_to(self, version: int) -> None:
        """Record that all events up to this version are delivered."""
        self._row().update(change_version=version)

    def _row(self) -> QuerySet[ChangeConsumer]:
        return ChangeConsumer.objects.using(self._using).filter(log=self._log, name=self.name)

    def _is_true(self, statement: str) -> bool:
        key = self.name if self._log == DOCUMENTS else f"{self._log} {self.name}"
        with connections[self._using].cursor() as cursor:
            return bool(cursor.execute(statement, [key]).fetchone()[0])


@dataclass(frozen=True, slots=True)
class Lag:
    """The position of a consumer, and the age of the oldest event that it has not received; 0 if there is none."""

    log: str
    consumer: str
    change_version: int
    seconds: float


def lags(using: str = DEFAULT_DB_ALIAS) -> list[Lag]:
    """The lag of all consumers, including handlers."""
    with connections[using].cursor() as cursor:
        return [
            Lag(*row)
            for log in logs()
            for row in cursor.execute(_LAGS.format(first_after=log.first_after), [log.name]).fetchall()
        ]
