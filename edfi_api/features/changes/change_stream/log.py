"""What consumers read: a log of events, how far it can be read, and the consumers with their positions, which are
stored in the database and advance after delivery.

Changes of documents that a consumer has not received yet are not purged, so unused consumers should be deleted in the
admin.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.routing_cache import store_at
from edfi_api.features.changes.change_queries.models import DOCUMENTS, ChangeConsumer
from edfi_api.features.changes.change_stream.exceptions import ConsumerIsBusy
from edfi_api.model.surface.resource import Resource

# A statement of its own, which must run before the events are read; see the SQL function.
_NEWEST = "SELECT newest_change_version(), coalesce(pg_sequence_last_value('change_version'), 0)"

# Advisory locks with two-part keys do not collide with the single-part keys of change versions. PostgreSQL releases
# them when the session ends for any reason.
_LOCK = "SELECT pg_try_advisory_lock(change_version_lock()::integer, hashtext(%s))"
_UNLOCK = "SELECT pg_advisory_unlock(change_version_lock()::integer, hashtext(%s))"
_LAGS = """
SELECT c.log, c.name, c.change_version, coalesce(extract(epoch FROM now() - ({first_after})), 0)::float
  FROM change_consumer c WHERE c.log = %s ORDER BY c.name
"""


class Event(Protocol):
    """A change of a document, or of anything else that takes its versions from the same sequence."""

    @property
    def version(self) -> int:
        """Return its place in the order of all events of a database."""

    @property
    def data_store(self) -> int | None:
        """The id of the data store in which it happened; None for the admin database."""

    @property
    def resource(self) -> str:
        """Return the name of the resource in the form `ed-fi/students`."""

    @property
    def operation(self) -> str:
        """What happened."""

    @property
    def natural_key(self) -> str | None:
        """Return the natural key of the document, if the event is about one."""

    def line(self) -> bytes:
        """Return the event as a line of JSON, with a newline at the end."""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """All events after the previous batch up to the version `upto`."""

    events: Sequence[Event]
    upto: int


@dataclass(frozen=True, slots=True)
class Newest:
    """`settled` is the version up to which all events are visible, `taken` the last value of the sequence."""

    settled: int
    taken: int

    @property
    def is_quiet(self) -> bool:
        """Whether no transaction is writing: all versions taken from the sequence are committed or rolled back."""
        return self.settled == self.taken


class Reader(Protocol):
    """Reads a log of one database."""

    def batches(self, after: int, newest: Newest) -> Iterator[EventBatch]:
        """All events after a version up to the settled one. Empty batches are included: they advance the position."""


class Log(Protocol):
    """The events of a database, by the order of their versions. Classes in the setting CHANGE_LOGS, without arguments.

    `name` is shown with the names of its consumers, `resource` is the one resource of its events, which selects it; the
    log of documents has those of the surface. `first_after` is SQL for the time of the first event after a version.
    """

    name: str
    resource: str | None
    verbose_name: str
    first_after: str

    def resources(self, paths: Collection[str]) -> Collection[Resource]:
        """Return what a reader is limited to; nothing means all. Raises UnknownResource and StreamedByItself."""

    def reader(self, resources: Collection[Resource], using: str) -> Reader:
        """A reader of a database."""

    def event(self, line: str) -> Event:
        """The event in a line written by `line`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The data store of an event: its id and its context. Versions are unique within it only."""

    data_store: int
    context: Mapping[str, str]

    @property
    def members(self) -> dict[str, Any]:
        """Return the members of the line of an event."""
        return {"dataStore": self.data_store, "context": self.context}

    @classmethod
    def in_line(cls, members: Mapping[str, Any]) -> "Origin | None":
        return cls(members["dataStore"], members["context"]) if "dataStore" in members else None


def logs() -> tuple[Log, ...]:
    """All logs; that of documents is the first."""
    return tuple(import_string(path)() for path in api_settings.CHANGE_LOGS)


def log_of(paths: Collection[str]) -> Log:
    """The log with the events of these resources; without any, that of documents."""
    named = {path.lower() for path in paths}
    return next((log for log in logs() if (log.resource or "").lower() in named), logs()[0])


def newest(using: str = DEFAULT_DB_ALIAS) -> Newest:
    """The version up to which every log of a database can be read now."""
    with connections[using].cursor() as cursor:
        return Newest(*cursor.execute(_NEWEST).fetchone())


def origin_of(using: str) -> Origin | None:
    """Return the origin of changes, None for the admin database."""
    store = None if using == DEFAULT_DB_ALIAS else store_at(using)
    return None if store is None else Origin(store.id, dict(store.context_as_written))


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
