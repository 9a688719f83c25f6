"""What a sink is: a class that takes changes, made by `registry.py` from the setting CHANGE_SINKS."""

from collections.abc import Sequence
from typing import Protocol

from edfi_api.features.changes.change_stream.log import Event


class Sink(Protocol):
    """Accepts events in order. After a failure the same ones are sent again; receivers identify them by version."""

    def send(self, changes: Sequence[Event]) -> None:
        """Returns once the events are stored or acknowledged. Raises SinkFailed."""

    def close(self) -> None:
        """Release resources; `send` is not called again."""


def message_id(event: Event) -> str:
    """Return an id that is the same whenever the event is sent: its version, which is unique within a data store,
    after that of the data store.
    """
    return str(event.version) if event.data_store is None else f"{event.data_store}-{event.version}"
