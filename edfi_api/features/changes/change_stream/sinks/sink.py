"""What a sink is, a class that takes changes; and the sinks that the setting CHANGE_SINKS names, which
`meadowlark/settings.py` makes of the environment."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Protocol

from django.utils.module_loading import import_string

from edfi_api.common.conf import api_settings
from edfi_api.features.changes.change_stream.exceptions import UnknownSink
from edfi_api.features.changes.change_stream.log import Event


class Sink(Protocol):
    """Accepts events in order. After a failure the same ones are sent again; receivers identify them by version."""

    def send(self, changes: Sequence[Event]) -> None:
        """Returns once the events are stored or acknowledged. Raises SinkFailed."""

    def close(self) -> None:
        """Release resources; `send` is not called again."""


def message_id(event: Event) -> str:
    """Return an id that is the same whenever the event is sent: the id of the data store, and the version of the event,
    which is unique there."""
    return str(event.version) if event.data_store is None else f"{event.data_store}-{event.version}"


@contextmanager
def configured_sink(name: str, consumer: str) -> Iterator[Sink]:
    """The sink with this name in the settings. Raises UnknownSink."""
    sinks: Mapping[str, Mapping[str, Any]] = api_settings.CHANGE_SINKS
    if name not in sinks:
        raise UnknownSink(name, sorted(sinks))
    make = import_string(sinks[name]["BACKEND"])
    with closing(make(consumer=consumer, **sinks[name].get("OPTIONS", {}))) as sink:
        yield sink
