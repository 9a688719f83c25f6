"""Sends changes to a sink, in order and at least once: the position advances after the sink has accepted them."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS

from edfi_api.changes.change_stream.consumer import Consumer
from edfi_api.changes.change_stream.following import follow, retry_on_outage
from edfi_api.changes.change_stream.reading import ChangeReader, Newest
from edfi_api.changes.change_stream.sinks.sink import Sink
from edfi_api.model.surface.resource import Resource


@dataclass(frozen=True, slots=True)
class Streamed:
    """A stream: the name of its consumer, its sink, and the resources whose changes are sent; none means all."""

    consumer: str
    sink: Sink
    resources: Collection[Resource] = ()
    using: str = DEFAULT_DB_ALIAS


def stream_once(streamed: Streamed, start: int | None = None) -> int:
    """Send all current changes after the consumer's position, or after version `start`. Returns their number.

    Raises ConsumerIsBusy, and SinkFailed; the position is then after the last batch that the sink has accepted.
    """
    with Consumer(streamed.consumer, streamed.using) as consumer:
        stream = _Stream(streamed, consumer, start)
        stream.work(stream.newest())
        return stream.count


def stream_for_ever(streamed: Streamed, start: int | None = None) -> None:
    """Send current and future changes. Continues after outages of the database; raises as `stream_once` does."""
    starts = iter([start])

    def run() -> None:
        with Consumer(streamed.consumer, streamed.using) as consumer:
            follow(_Stream(streamed, consumer, next(starts, None)), streamed.using)

    retry_on_outage(run, streamed.using)


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
        for batch in self._reader.batches(self._position, newest):
            if batch.changes:
                self._sink.send(batch.changes)
            self._consumer.move_to(batch.upto)
            self._position = batch.upto
            self.count += len(batch.changes)

    def seconds_to_sleep(self) -> None:
        return None
