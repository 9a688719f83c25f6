"""Delivers changes to handlers, each with its own position; after several failed attempts a change is a dead letter.

A failed delivery is retried with exponential backoff. Later changes of that handler wait, which preserves their order;
other handlers continue.
"""

import logging
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from django.db import DEFAULT_DB_ALIAS, connections, transaction

from edfi_api.changes.change_stream.changes import Change
from edfi_api.changes.change_stream.consumer import Consumer
from edfi_api.changes.change_stream.exceptions import UnknownHandler
from edfi_api.changes.change_stream.following import follow, retry_on_outage
from edfi_api.changes.change_stream.handlers import Handler
from edfi_api.changes.change_stream.models import DeadLetter
from edfi_api.changes.change_stream.reading import ChangeReader, Newest

log = logging.getLogger(__name__)

ATTEMPTS = 6
_FIRST_PAUSE_SECONDS = 0.5


def deliver_once(handlers: Iterable[Handler], using: str = DEFAULT_DB_ALIAS) -> None:
    """Deliver all current changes. Returns when each has been handled or is a dead letter."""
    with _deliveries(handlers, using) as deliveries:
        newest = deliveries.newest()
        while deliveries.is_behind(newest):
            deliveries.work(newest)
            time.sleep(deliveries.seconds_to_sleep() or 0)


def deliver_for_ever(handlers: Iterable[Handler], using: str = DEFAULT_DB_ALIAS) -> None:
    """Deliver current and future changes. Raises ConsumerIsBusy if another process does."""

    def run() -> None:
        with _deliveries(handlers, using) as deliveries:
            follow(deliveries, using)

    retry_on_outage(run, using)


def deliver_again(letter: DeadLetter, handlers: Iterable[Handler]) -> bool:
    """Whether the handler succeeds now; the dead letter is deleted then. Raises UnknownHandler."""
    handler = next((each for each in handlers if each.name == letter.handler), None)
    if handler is None:
        raise UnknownHandler(letter.handler)
    using = letter._state.db or DEFAULT_DB_ALIAS
    with _failures_of(handler, using) as failed, transaction.atomic(using):
        handler.handle(Change.from_line(letter.change))
        letter.delete()
    for text in failed:
        letter.failed_again(text)
    return not failed


@contextmanager
def _deliveries(handlers: Iterable[Handler], using: str) -> Iterator["_Deliveries"]:
    with ExitStack() as entered:
        yield _Deliveries(
            [_Delivery(handler, entered.enter_context(Consumer(handler.name, using)), using) for handler in handlers],
            ChangeReader(using=using),
        )


class _Deliveries:
    """The deliveries to all handlers, which run one after another."""

    def __init__(self, deliveries: list["_Delivery"], reader: ChangeReader) -> None:
        self._deliveries = deliveries
        self._reader = reader

    def newest(self) -> Newest:
        return self._reader.newest()

    def is_behind(self, newest: Newest) -> bool:
        return any(delivery.is_behind(newest) for delivery in self._deliveries)

    def has_work(self, newest: Newest) -> bool:
        return any(delivery.is_behind(newest) and delivery.is_due for delivery in self._deliveries)

    def work(self, newest: Newest) -> None:
        for delivery in self._deliveries:
            if delivery.is_due:
                delivery.work(newest)

    def seconds_to_sleep(self) -> float | None:
        times = [delivery.due_at for delivery in self._deliveries if not delivery.is_due]
        return max(0.0, min(times) - time.monotonic()) if times else None


class _Delivery:
    """The delivery to one handler: its position, and how often the next change has failed."""

    def __init__(self, handler: Handler, consumer: Consumer, using: str) -> None:
        self.due_at = 0.0
        self._handler = handler
        self._consumer = consumer
        self._using = using
        self._reader = ChangeReader(handler.resources, using)
        self._position = consumer.position
        self._failures = 0

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self.due_at

    def is_behind(self, newest: Newest) -> bool:
        return self._position < newest.settled

    def work(self, newest: Newest) -> None:
        """Deliver up to the settled version, or up to a change that has to be retried later."""
        for batch in self._reader.batches(self._position, newest):
            for change in filter(self._handler.accepts, batch.changes):
                if not self._deliver(change):
                    return
            self._consumer.move_to(batch.upto)
            self._position = batch.upto

    def _deliver(self, change: Change) -> bool:
        """Whether the change is done: handled, or a dead letter. False if it has to be retried later."""
        with _failures_of(self._handler, self._using) as failed, transaction.atomic(self._using):
            self._handler.handle(change)
            self._consumer.move_to(change.version)
        if failed:
            self._failures += 1
            if self._failures < ATTEMPTS:
                self.due_at = time.monotonic() + _FIRST_PAUSE_SECONDS * 2 ** (self._failures - 1)
                return False
            self._give_up(change, failed[0])
        self._position = change.version
        self._failures = 0
        return True

    def _give_up(self, change: Change, error: str) -> None:
        log.error("%s: change %s is a dead letter", self._handler.name, change.version)
        with transaction.atomic(self._using):
            DeadLetter.keep(self._handler.name, change, error, self._failures, self._using)
            self._consumer.move_to(change.version)


@contextmanager
def _failures_of(handler: Handler, using: str = DEFAULT_DB_ALIAS) -> Iterator[list[str]]:
    """Yields a list that contains the traceback after the block if the handler has failed. Catches every exception of
    the handler, except when the database connection is lost."""
    failed: list[str] = []
    try:
        yield failed
    except Exception:
        if not connections[using].is_usable():
            raise
        log.exception("%s failed", handler.name)
        failed.append(traceback.format_exc())
