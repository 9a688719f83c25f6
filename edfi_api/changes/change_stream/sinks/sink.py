"""The interface of sinks. A sink is a class in the setting CHANGE_SINKS, created with the options given there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Protocol

from django.utils.module_loading import import_string

from edfi_api.changes.change_stream.exceptions import UnknownSink
from edfi_api.conf import api_settings


class Event(Protocol):
    """What sinks accept: a change of a document, or another event with a version."""

    @property
    def version(self) -> int:
        """Its place in the order of events of its kind."""

    @property
    def data_store(self) -> int | None:
        """The id of the data store in which it happened; None for the control database."""

    @property
    def resource(self) -> str:
        """Of the form `ed-fi/students`."""

    @property
    def operation(self) -> str:
        """What happened."""

    def line(self) -> bytes:
        """One line of JSON, with a newline at the end."""


def message_id(event: Event) -> str:
    """The same whenever the event is sent: its version, which is unique within a data store, behind the data store."""
    return str(event.version) if event.data_store is None else f"{event.data_store}-{event.version}"


class Sink(Protocol):
    """Accepts changes in order. After a failure the same changes are sent again; receivers identify them by version."""

    def send(self, changes: Sequence[Event]) -> None:
        """Returns once the changes are stored or acknowledged. Raises SinkFailed."""

    def close(self) -> None:
        """Release resources; `send` is not called again."""


@contextmanager
def configured_sink(name: str, consumer: str) -> Iterator[Sink]:
    """The sink with this name in the settings. Raises UnknownSink."""
    sinks: Mapping[str, Mapping[str, Any]] = api_settings.CHANGE_SINKS
    if name not in sinks:
        raise UnknownSink(name, sorted(sinks))
    make = import_string(sinks[name]["BACKEND"])
    with closing(make(consumer=consumer, **sinks[name].get("OPTIONS", {}))) as sink:
        yield sink
