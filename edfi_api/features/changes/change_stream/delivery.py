"""Deliveries of events to sinks and handlers, each with its own position, in order and at least once.

A handler that fails is called again with exponential backoff. Its later events wait, which preserves their order; other
deliveries continue. After several failed attempts the event is a dead letter.

Deliveries wait for events without polling, by PostgreSQL's LISTEN and NOTIFY. Writers notify only while there are
listeners, since NOTIFY costs them time (see `notify_listeners` in `sql/documents.sql`). A listener first takes a shared
advisory lock that announces it, and then checks once more for events. A writer that looked for listeners before has
taken its version by then: either its event is visible, or its version is still unsettled, which shows that a writer is
active. That writer does not notify, so the caller polls until it ends.
"""

import logging
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Self

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections, transaction
from psycopg import Connection

from edfi_api.common.back_off import BackOff
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.data_stores.routing import Store, described
from edfi_api.core.storage.driver.execution import is_outage
from edfi_api.features.changes.change_stream.exceptions import ConsumerIsBusy, UnknownHandler
from edfi_api.features.changes.change_stream.handlers import Handler
from edfi_api.features.changes.change_stream.log import Consumer, Event, EventBatch, Log, Newest, log_of, newest
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.features.changes.change_stream.sinks.sink import Sink
from edfi_api.model.surface.resource import Resource

log = logging.getLogger(__name__)

FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.02, 1.0
_LONGEST_OUTAGE_PAUSE_SECONDS = 30.0
# A connection that was dropped silently, for example by a firewall, is detected after at most this time.
_LONGEST_WAIT_SECONDS = 30.0

_LISTEN = "LISTEN document_change"
_ANNOUNCE = "SELECT pg_advisory_lock_shared(change_version_lock()::integer, 0)"
_WITHDRAW = "SELECT pg_advisory_unlock_shared(change_version_lock()::integer, 0)"

ATTEMPTS = 6
_FIRST_PAUSE_SECONDS = 0.5
# While events keep coming, they are polled at this interval instead of waiting for notifications, which cost writers.
_PAUSE_SECONDS = 0.1

# Seconds from one round to the next.
PAUSE = 5.0
# Connections that stay open between rounds.
_MOST_CONNECTIONS = 50

Work = Callable[[str], object]
Report = Callable[[str], object]


class ChangeListener:
    """Listens for changes. Needs a session of its own: does not work with PgBouncer in transaction mode."""

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        self._using = using

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Within the context, every commit with changes notifies this session, except those of transactions that had
        started writing before."""
        self._run(_LISTEN)
        self._run(_ANNOUNCE)
        try:
            yield
        finally:
            if not self._connection.closed:
                self._run(_WITHDRAW)

    def wait(self, seconds: float = _LONGEST_WAIT_SECONDS) -> None:
        """Wait for a notification, at most this long. Raises django.db.OperationalError if the connection is lost."""
        if self._take_notifications():
            return
        with connections[self._using].wrap_database_errors:
            for _ in self._connection.notifies(timeout=seconds, stop_after=1):
                pass

    def _take_notifications(self) -> bool:
        """Return whether notifications have already arrived together with the result of a query; removes them."""
        were_there = False
        while self._connection.pgconn.notifies():
            were_there = True
        return were_there

    def _run(self, statement: str) -> None:
        with connections[self._using].cursor() as cursor:
            cursor.execute(statement)

    @property
    def _connection(self) -> Connection:
        connection: Connection = connections[self._using].connection
        return connection


class Delivery:
    """The delivery of a log to one consumer. The context holds its position, stored after each batch."""

    def __init__(self, name: str, source: Log, resources: Collection[Resource], using: str) -> None:
        self.consumer = Consumer(name, using, source.name)
        self.using = using
        self.count = 0
        self._source = source
        self._resources = resources

    def __enter__(self) -> Self:
        """Raises ConsumerIsBusy if another process holds the consumer."""
        self._reader = self._source.reader(self._resources, self.using)
        self.consumer.__enter__()
        self.position = self.consumer.position
        self.due_at = 0.0
        return self

    def __exit__(self, *_: object) -> None:
        self.consumer.__exit__()

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self.due_at

    def is_behind(self, version: Newest) -> bool:
        return self.position < version.settled

    def steps(self, version: Newest) -> Iterator[None]:
        """Deliver up to the settled version, batch by batch, or up to an event that has to be retried later."""
        for batch in self._reader.batches(self.position, version):
            if not self.accept(batch):
                return
            self.consumer.move_to(batch.upto)
            self.position = batch.upto
            self.count += len(batch.events)
            yield

    def accept(self, batch: EventBatch) -> bool:
        """Return whether all events of the batch are done; False if one has to be retried when the delivery is due."""
        raise NotImplementedError


class ToSink(Delivery):
    """A stream to a sink, after the consumer's position, or first after the version `start`."""

    def __init__(
        self,
        name: str,
        source: Log,
        sink: Sink,
        resources: Collection[Resource] = (),
        *,
        using: str = DEFAULT_DB_ALIAS,
        start: int | None = None,
    ) -> None:
        super().__init__(name, source, resources, using)
        self._sink = sink
        self._start = start

    def __enter__(self) -> Self:
        super().__enter__()
        if self._start is not None:
            self.consumer.move_to(self._start)
            self.position, self._start = self._start, None
        return self

    def accept(self, batch: EventBatch) -> bool:
        """Raises SinkFailed; the position is then after the last batch that the sink has accepted."""
        if batch.events:
            self._sink.send(batch.events)
        return True


class ToHandler(Delivery):
    """The calls of a handler, and how often the next event has failed."""

    def __init__(self, handler: Handler, using: str = DEFAULT_DB_ALIAS) -> None:
        super().__init__(handler.name, handler.log, handler.resources, using)
        self._handler = handler
        self._back_off = BackOff(_FIRST_PAUSE_SECONDS)

    def accept(self, batch: EventBatch) -> bool:
        return all(self._handle(event) for event in filter(self._handler.accepts, batch.events))

    def _handle(self, event: Event) -> bool:
        """Return whether the event is done: handled, or a dead letter."""
        with _failures_of(self._handler, self.using) as failed, transaction.atomic(self.using):
            self._handler.handle(event)
            self.consumer.move_to(event.version)
        if failed:
            pause = self._back_off.pause()
            if self._back_off.failures < ATTEMPTS:
                self.due_at = time.monotonic() + pause
                return False
            self._give_up(event, failed[0])
        self.position = event.version
        self._back_off.reset()
        return True

    def _give_up(self, event: Event, error: str) -> None:
        log.error("%s: change %s is a dead letter", self._handler.name, event.version)
        with transaction.atomic(self.using):
            DeadLetter.keep(self._handler.name, event, error, self._back_off.failures, self.using)
            self.consumer.move_to(event.version)


def deliver_once(deliveries: Collection[Delivery], using: str = DEFAULT_DB_ALIAS) -> int:
    """Deliver all current events. Returns their number when each has been delivered or is a dead letter.

    Raises ConsumerIsBusy, and SinkFailed.
    """
    with _hold(deliveries):
        version = newest(using)
        while any(each.is_behind(version) for each in deliveries):
            _deliver_in_turns(deliveries, version)
            if seconds := _seconds_to_retry(deliveries):
                time.sleep(seconds)
    return sum(each.count for each in deliveries)


def deliver_for_ever(deliveries: Collection[Delivery], using: str = DEFAULT_DB_ALIAS) -> None:
    """Deliver current and future events. Continues after outages of the database; raises as `deliver_once` does."""

    def run() -> None:
        with _hold(deliveries):
            _follow(deliveries, using)

    retry_on_outage(run, using)


def deliver_again(letter: DeadLetter, handlers: Iterable[Handler]) -> bool:
    """Return whether the handler succeeds now; the dead letter is deleted then. Raises UnknownHandler."""
    source = log_of([letter.resource]).name
    handler = next((each for each in handlers if (each.name, each.log.name) == (letter.handler, source)), None)
    if handler is None:
        raise UnknownHandler(letter.handler)
    using = letter._state.db or DEFAULT_DB_ALIAS
    with _failures_of(handler, using) as failed, transaction.atomic(using):
        handler.handle(handler.log.event(letter.change))
        letter.delete()
    for text in failed:
        letter.record_failure(text)
    return not failed


@contextmanager
def _hold(deliveries: Iterable[Delivery]) -> Iterator[None]:
    with ExitStack() as entered:
        for each in deliveries:
            entered.enter_context(each)
        yield


def _follow(deliveries: Collection[Delivery], using: str) -> None:
    """Deliver, wait for more, and so on. Ends only by an exception."""
    listener = ChangeListener(using)
    while True:
        while _has_work(deliveries, version := newest(using)):
            _deliver_in_turns(deliveries, version)
            time.sleep(_PAUSE_SECONDS)
        seconds = _seconds_to_retry(deliveries)
        if seconds is not None:
            time.sleep(min(seconds, LAST_LOOK_SECONDS))  # Short enough to poll instead of listening.
            continue
        with listener.listening():
            _wait_for_work(deliveries, listener, using)


def _wait_for_work(deliveries: Collection[Delivery], listener: ChangeListener, using: str) -> None:
    """Wait for a notification. Writers that were active before the listener do not notify, so poll until they end."""
    looks = BackOff(FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS)
    while not _has_work(deliveries, version := newest(using)):
        listener.wait() if version.is_quiet else listener.wait(looks.pause())


def _has_work(deliveries: Iterable[Delivery], version: Newest) -> bool:
    return any(each.is_behind(version) and each.is_due for each in deliveries)


def _deliver_in_turns(deliveries: Iterable[Delivery], version: Newest) -> None:
    """Let all that are due deliver in turns, so that none waits for more than a batch of each other."""
    turns = deque(each.steps(version) for each in deliveries if each.is_due)
    while turns:
        steps = turns.popleft()
        for _ in steps:
            turns.append(steps)
            break


def _seconds_to_retry(deliveries: Iterable[Delivery]) -> float | None:
    times = [each.due_at for each in deliveries if not each.is_due]
    return max(0.0, min(times) - time.monotonic()) if times else None


@contextmanager
def _failures_of(handler: Handler, using: str) -> Iterator[list[str]]:
    """Yield a list that contains the traceback after the block if the handler has failed. Catches every exception of
    the handler, except when the database connection is lost."""
    failed: list[str] = []
    try:
        yield failed
    except Exception:
        if not connections[using].is_usable():
            raise
        log.exception("%s failed", handler.name)
        failed.append(traceback.format_exc())


def run_once(stores: Iterable[Store], work: Work, report: Report) -> list[str]:
    """Call `work` with the alias of each data store; those that failed. One that does not answer, or whose changes
    another process is working on, does not keep the others from being worked on."""
    failed = []
    for number, store in enumerate(stores):
        try:
            using = alias_of(store.primary)
            try:
                work(using)
            finally:
                if number >= _MOST_CONNECTIONS and using != DEFAULT_DB_ALIAS:
                    connections[using].close()
        except (ConsumerIsBusy, ConnectionUnusable, DatabaseError, InterfaceError) as error:
            report(f"{described(store)}: {_reason(error)}")
            failed.append(described(store))
    return failed


def run_for_ever(choose: Callable[[], Iterable[Store]], work: Work, report: Report) -> None:
    """Run again and again, each time for the data stores that there are then. Ends only by an exception of `work`."""
    while True:
        run_once(choose(), work, report)
        time.sleep(PAUSE)


def _reason(error: Exception) -> str:
    return error.reason if isinstance(error, ConnectionUnusable) else " ".join(str(error).split())


def retry_on_outage(run: Callable[[], None], using: str = DEFAULT_DB_ALIAS) -> None:
    """Run, and run again with growing pauses if it fails because of an outage of the database."""
    back_off = BackOff(FIRST_LOOK_SECONDS, _LONGEST_OUTAGE_PAUSE_SECONDS)
    while True:
        started = time.monotonic()
        try:
            return run()
        except (DatabaseError, InterfaceError) as error:
            if not is_outage(error):
                raise
            if time.monotonic() - started > _LONGEST_OUTAGE_PAUSE_SECONDS:
                back_off.reset()
            pause = back_off.pause()
            log.warning("the database is unavailable, trying again in %.1f seconds: %s", pause, str(error).strip())
            connections[using].close()
            time.sleep(pause)
