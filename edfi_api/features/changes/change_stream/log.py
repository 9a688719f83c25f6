"""What consumers read: a log of events, and how far it can be read."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.db import DEFAULT_DB_ALIAS, connections
from django.utils.module_loading import import_string

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.routes import store_at
from edfi_api.model.surface.resource import Resource

# A statement of its own, which must run before the events are read; see the SQL function.
_NEWEST = "SELECT newest_change_version(), coalesce(pg_sequence_last_value('change_version'), 0)"


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
        """One line of JSON, with a newline at the end."""


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

    `name` stands beside the names of its consumers, `resource` is the one resource of its events, which selects it; the
    log of documents has those of the surface. `first_after` is SQL for the time of the first event after a version.
    """

    name: str
    resource: str | None
    verbose_name: str
    first_after: str

    def resources(self, paths: Collection[str]) -> Collection[Resource]:
        """What a reader is limited to; nothing means all. Raises UnknownResource and StreamedByItself."""

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
