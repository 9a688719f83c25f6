"""The sinks that the setting CHANGE_SINKS names (`meadowlark/settings.py`): each has a class, and its options."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from django.utils.module_loading import import_string

from edfi_api.common.conf import api_settings
from edfi_api.features.changes.change_stream.exceptions import UnknownSink
from edfi_api.features.changes.change_stream.sinks.sink import Sink


@contextmanager
def configured_sink(name: str, consumer: str) -> Iterator[Sink]:
    """The sink with this name in the settings. Raises UnknownSink."""
    sinks: Mapping[str, Mapping[str, Any]] = api_settings.CHANGE_SINKS
    if name not in sinks:
        raise UnknownSink(name, sorted(sinks))
    make = import_string(sinks[name]["BACKEND"])
    with closing(make(consumer=consumer, **sinks[name].get("OPTIONS", {}))) as sink:
        yield sink
