"""Everything that a connection sends, as it stands at one moment, in load order; the stream goes on from there."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import connections
from psycopg import Connection, ServerCursor

from edfi_api.core.documents import json_text
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.features.changes.change_stream.log import newest
from edfi_api.features.exchange.push.outbound_changes import OutboundChange, upsert
from edfi_api.features.exchange.push.readable import ReadableDocuments
from edfi_api.features.exchange.push.sender import SegmentSender
from edfi_api.features.exchange.push.sent_documents import SentDocuments

_PAGE = 500
# Documents and bytes of bodies that are sent as one segment.
_MOST_DOCUMENTS, _MOST_BYTES = 4_000, 32 * 2**20
_BODIES = Sql("""
SELECT d.document_uuid, d.body::text FROM document d WHERE d.resource_type_id = %(type)s AND {is_allowed} ORDER BY d.id
""")


def send_whole(
    sender: SegmentSender,
    sent: SentDocuments,
    readable: ReadableDocuments,
    until_answered: Callable[[Callable[[], None]], None],
    using: str,
) -> int:
    """Returns the version after which changes are still to be sent, and what is asked for. What was sent before and is
    not here any more, or may not be read, is deleted there. Raises RemoteFailed."""
    # Before the snapshot, which then has every change up to it.
    version = newest(using).settled
    for segment in _ahead(_segments(readable, using)):
        until_answered(partial(sender.send_part, segment, readable))
    for gone in sent.gone():
        until_answered(partial(sender.send_again, gone, readable))
    if readable.is_limited:
        for changed in readable.differences():
            until_answered(partial(sender.send_again, changed, readable))
    return version


def _ahead(segments: Iterator[list[OutboundChange]]) -> Iterator[list[OutboundChange]]:
    """Yield the segments; while one is sent, a thread makes the next."""
    with ThreadPoolExecutor(1) as reader:
        upcoming = reader.submit(next, segments, None)
        while segment := upcoming.result():
            upcoming = reader.submit(next, segments, None)
            yield segment


def _segments(readable: ReadableDocuments, using: str) -> Iterator[list[OutboundChange]]:
    segment: list[OutboundChange] = []
    size = 0
    with _snapshot(using) as documents:
        for outbound, bytes_ in _outbound_changes(documents, readable, using):
            segment.append(outbound)
            size += bytes_
            if len(segment) >= _MOST_DOCUMENTS or size >= _MOST_BYTES:
                yield segment
                segment, size = [], 0
    if segment:
        yield segment


@contextmanager
def _snapshot(using: str) -> Iterator[Connection[Any]]:
    """A connection of its own, since rows are written meanwhile. Readers and writers go on undisturbed."""
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
    documents: Connection[Any], readable: ReadableDocuments, using: str
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


def _rows(documents: Connection[Any], statement: Sql) -> Iterator[Sequence[Any]]:
    with ServerCursor(documents, "push") as cursor:
        cursor.execute(statement.text, statement.parameters)
        while rows := cursor.fetchmany(_PAGE):
            yield from rows
