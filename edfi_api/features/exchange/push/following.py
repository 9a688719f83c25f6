"""A connection as a consumer of the change stream: each batch of changes is sent, then the position moves.

While the remote API does not answer, the position stays, and the batch is sent again with growing pauses.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Self

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import ServerCursor

from edfi_api.common.back_off import BackOff
from edfi_api.core.documents import json_text
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.features.changes.change_stream.delivery import Delivery
from edfi_api.features.changes.change_stream.documents import Operation
from edfi_api.features.changes.change_stream.log import EventBatch, Newest, logs, newest
from edfi_api.features.exchange.models import Connection, Phase
from edfi_api.features.exchange.push.outbound_changes import OutboundChange, segments, upsert
from edfi_api.features.exchange.push.readable import ReadableDocuments
from edfi_api.features.exchange.push.sender import SegmentSender
from edfi_api.features.exchange.push.sent_documents import SentDocuments
from edfi_api.features.exchange.remote_api import RemoteFailed
from edfi_api.features.exchange.stored_connections import consumer_of, report

_log = logging.getLogger(__name__)
# An organization that is new, or is deleted, has nothing above or below it.
_MOVES = (Operation.UPDATE, Operation.KEY_CHANGE)
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 60.0
# What a client may read can change at any time.
_SECONDS_OF_READABLE = 30.0

_PAGE = 500
# Documents and bytes of bodies that are sent as one segment.
_MOST_DOCUMENTS, _MOST_BYTES = 4_000, 32 * 2**20
_BODIES = Sql("""
SELECT d.document_uuid, d.body::text FROM document d WHERE d.resource_type_id = %(type)s AND {is_allowed} ORDER BY d.id
""")


class PushDelivery(Delivery):
    """The changes of one database to the target of a sender. `is_patient`: when it does not answer, wait and send
    again; otherwise RemoteFailed is raised."""

    def __init__(
        self,
        connection: Connection,
        sender: SegmentSender,
        sent: SentDocuments,
        readable: Callable[[], ReadableDocuments],
        using: str,
        *,
        is_patient: bool,
    ) -> None:
        self._connection = connection
        self._sender = sender
        self._sent = sent
        self._find_readable = readable
        self._is_patient = is_patient
        self._back_off = BackOff(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        self._newest = 0
        self._reported_refused = 0
        self._readable = readable()
        self._readable_until = time.monotonic() + _SECONDS_OF_READABLE
        super().__init__(consumer_of(connection), logs()[0], self._readable.resources, using)

    def __enter__(self) -> Self:
        control = connections[DEFAULT_DB_ALIAS]
        if control.connection is not None and not control.is_usable():
            control.close()  # It was away, too, when that of the documents was.
        super().__enter__()
        self._report(Phase.RUNNING)
        return self

    def is_behind(self, version: Newest) -> bool:
        """Return whether something is to be sent, also if someone has asked for refused documents to be sent again."""
        return super().is_behind(version) or bool(self._sent.asked(1))

    def steps(self, version: Newest) -> Iterator[None]:
        self._newest = version.settled
        if not self._attempt(self._send_asked):
            return
        yield from super().steps(version)
        if self.is_due:
            self.report_end()

    def accept(self, batch: EventBatch) -> bool:
        return self._attempt(lambda: self._send(batch))

    def send_until_answered(self, send: Callable[[], None]) -> None:
        """Send, and again until the target answers. Raises RemoteFailed if this delivery is not patient."""
        while not self._attempt(send):
            time.sleep(max(0.0, self.due_at - time.monotonic()))

    def move_to(self, version: int) -> None:
        """Store that everything up to this version is sent."""
        self.consumer.move_to(version)
        self.position = version

    def report_end(self) -> None:
        """Report that all that could be sent is sent. What was refused and is accepted by now has not been refused."""
        refused = self._sender.figures.refused
        self._report(Phase.IDLE, refused=max(refused - self._reported_refused, 0))
        self._reported_refused = refused

    def _attempt(self, send: Callable[[], None]) -> bool:
        """Return whether the target has answered; if not, this delivery is due again later. Raises RemoteFailed if it
        is not patient."""
        began, before = time.monotonic(), self._sender.figures.accepted
        try:
            send()
        except RemoteFailed as failure:
            self._report(Phase.WAITING if self._is_patient else Phase.FAILED, before, str(failure))
            if not self._is_patient:
                raise
            pause = self._back_off.pause()
            self.due_at = time.monotonic() + pause
            _log.warning("%s waits %.0f s: %s", self._connection, pause, failure)
            return False
        self._back_off.reset()
        if before != self._sender.figures.accepted:
            self._report(Phase.RUNNING, before, seconds=time.monotonic() - began)
        return True

    def _send(self, batch: EventBatch) -> None:
        readable = self._current_readable() if batch.events else self._readable
        found = list(segments(batch.events)) or [[]]  # type: ignore[arg-type]  # The log of documents has changes.
        if readable.is_limited:
            known = {each.document_uuid for each in found[-1]}
            reached = readable.current_documents(readable.whose_reach_changed(self.position, batch.upto))
            found[-1] += [each for each in reached if each.document_uuid not in known]
        for segment in found:
            self._sender.send_changes(segment, readable)
        if readable.is_limited and self._moves_organizations(batch, readable):
            for documents in readable.differences():
                self._sender.send_again(documents, readable)

    def _moves_organizations(self, batch: EventBatch, readable: ReadableDocuments) -> bool:
        """Return whether the hierarchy of organizations may have changed, which decides what may be read."""
        paths = {each.url_path.strip("/") for each in readable.resources if each.organization}
        return any(each.resource in paths and each.operation in _MOVES for each in batch.events)

    def _send_asked(self) -> None:
        while asked := self._sent.asked():
            self._sender.send_again(asked, self._current_readable())
            self._sent.end_requests(asked)

    def _current_readable(self) -> ReadableDocuments:
        if time.monotonic() > self._readable_until:
            self._readable = self._find_readable()
            self._readable_until = time.monotonic() + _SECONDS_OF_READABLE
        return self._readable

    def _report(
        self, phase: Phase, before: int | None = None, failure: str = "", seconds: float = 0, refused: int = 0
    ) -> None:
        figures = self._sender.figures
        accepted = figures.accepted if before is None else before
        report(
            self._connection,
            phase,
            failure=failure,
            position=self.position,
            newest=max(self._newest, self.position),
            accepted=figures.accepted - accepted,
            refused=refused,
            rate=(figures.accepted - accepted) / seconds if seconds else None,
        )


def send_whole(
    sender: SegmentSender,
    sent: SentDocuments,
    readable: ReadableDocuments,
    send: Callable[[Callable[[], None]], None],
    using: str,
) -> int:
    """Send everything, and return the version after which changes are still to be sent. What was sent before and is
    not here any more, or may not be read, is deleted there. Raises RemoteFailed."""
    # Before the snapshot, which then has every change up to it.
    version = newest(using).settled
    for segment in _read_ahead(_segments(readable, using)):
        send(partial(sender.send_part, segment, readable))
    for gone in sent.gone():
        send(partial(sender.send_again, gone, readable))
    if readable.is_limited:
        for changed in readable.differences():
            send(partial(sender.send_again, changed, readable))
    return version


def _read_ahead(segments: Iterator[list[OutboundChange]]) -> Iterator[list[OutboundChange]]:
    """Yield the segments; while one is sent, a thread makes the next."""
    with ThreadPoolExecutor(1) as reader:
        upcoming = reader.submit(next, segments, None)
        while segment := upcoming.result():
            upcoming = reader.submit(next, segments, None)
            yield segment


def _segments(readable: ReadableDocuments, using: str) -> Iterator[list[OutboundChange]]:
    segment: list[OutboundChange] = []
    size = 0
    with _open_snapshot(using) as documents:
        for outbound, bytes_ in _outbound_changes(documents, readable, using):
            segment.append(outbound)
            size += bytes_
            if len(segment) >= _MOST_DOCUMENTS or size >= _MOST_BYTES:
                yield segment
                segment, size = [], 0
    if segment:
        yield segment


@contextmanager
def _open_snapshot(using: str) -> Iterator[psycopg.Connection[Any]]:
    """Open a connection with a snapshot: rows are written on another. Readers and writers go on undisturbed."""
    opened = connections.create_connection(using)
    opened.inc_thread_sharing()  # If sending fails, another thread than the reader closes it.
    try:
        opened.ensure_connection()
        with opened.connection.transaction():
            opened.connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield opened.connection
    finally:
        opened.close()


def _outbound_changes(
    documents: psycopg.Connection[Any], readable: ReadableDocuments, using: str
) -> Iterator[tuple[OutboundChange, int]]:
    """Yield what is to be sent, with the length of the bodies."""
    numbers = resource_types.numbers(using)
    for resource in readable.resources:
        predicate = readable.predicate(resource)
        allowed = Sql("true") if predicate is None else predicate.for_many_rows
        statement = _BODIES.fill(is_allowed=allowed).with_values(type=numbers[resource.name])
        for document, text in _rows(documents, statement):
            outbound = upsert(resource, document, json_text.loads(text.encode()))
            if readable.passes(outbound):
                yield outbound, len(text)


def _rows(documents: psycopg.Connection[Any], statement: Sql) -> Iterator[Sequence[Any]]:
    with ServerCursor(documents, "push") as cursor:
        cursor.execute(statement.text, statement.parameters)
        while rows := cursor.fetchmany(_PAGE):
            yield from rows
