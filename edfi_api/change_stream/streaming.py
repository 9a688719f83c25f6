"""Changes → a sink, in order, at least once: a consumer's position moves when the sink has taken what lies before."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS

from edfi_api.change_stream.consumer import Consumer
from edfi_api.change_stream.following import follow, through_outages
from edfi_api.change_stream.reading import ChangeReader, Newest
from edfi_api.change_stream.sinks.sink import Sink
from edfi_api.surface.resource import Resource


@dataclass(frozen=True, slots=True)
class Streamed:
    """What is streamed to whom: the changes of some resources, or of all, to a sink, under the name of a consumer."""

    consumer: str
    sink: Sink
    resources: Collection[Resource] = ()
    using: str = DEFAULT_DB_ALIAS


def stream_once(streamed: Streamed, start: int | None = None) -> int:
    """Hand on what there is now, from the consumer's position or behind version `start`; how many changes it was.

    Raises ConsumerIsBusy, and SinkFailed with the position behind what was taken.
    """
    with Consumer(streamed.consumer, streamed.using) as consumer:
        stream = _Stream(streamed, consumer, start)
        stream.work(stream.newest())
        return stream.count


def stream_for_ever(streamed: Streamed, start: int | None = None) -> None:
    """Hand on what there is, and whatever comes. Goes on after the database was away; raises as `stream_once` does."""
    starts = iter([start])

    def run() -> None:
        with Consumer(streamed.consumer, streamed.using) as consumer:
            follow(_Stream(streamed, consumer, next(starts, None)), streamed.using)

    through_outages(run, streamed.using)


class _Stream:
    def __init__(self, streamed: Streamed, consumer: Consumer, start: int | None) -> None:
        self.count = 0
        self._sink = streamed.sink
        self._consumer = consumer
        self._reader = ChangeReader(streamed.resources, streamed.using)
        if start is not None:
            consumer.move_to(start)
        self._position = consumer.position

    def newest(self) -> Newest:
        return self._reader.newest()

    def has_work(self, newest: Newest) -> bool:
        return newest.settled > self._position

    def work(self, newest: Newest) -> None:
        for window in self._reader.windows(self._position, newest):
            if window.changes:
                self._sink.send(window.changes)
            self._consumer.move_to(window.upto)
            self._position = window.upto
            self.count += len(window.changes)

    def seconds_to_sleep(self) -> None:
        return None
