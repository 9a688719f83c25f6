"""Where changes go. A sink is a class named in settings, made with the options that stand there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Protocol

from django.utils.module_loading import import_string

from edfi_api.change_stream.changes import Change
from edfi_api.change_stream.exceptions import UnknownSink
from edfi_api.conf import api_settings


class Sink(Protocol):
    """Takes changes in order. After a failure the same ones come again; receivers know them by their versions."""

    def send(self, changes: Sequence[Change]) -> None:
        """Returns once they are safe. Raises SinkFailed."""

    def close(self) -> None:
        """Nothing comes any more."""


@contextmanager
def configured_sink(name: str, consumer: str) -> Iterator[Sink]:
    """The sink that settings have under this name; UnknownSink otherwise."""
    sinks: Mapping[str, Mapping[str, Any]] = api_settings.CHANGE_SINKS
    if name not in sinks:
        raise UnknownSink(name, sorted(sinks))
    make = import_string(sinks[name]["BACKEND"])
    with closing(make(consumer=consumer, **sinks[name].get("OPTIONS", {}))) as sink:
        yield sink
