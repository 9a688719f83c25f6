"""The rows of `exchange_sent_document`: what a connection has sent, what was refused, and what is to be tried again.

A row is written before the first request about its document, so that one exists for each document that may be there.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import orjson
from django.db import DatabaseError, InterfaceError, connections, transaction

from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.sql import statements_of
from edfi_api.features.changes.change_queries.models import DOCUMENTS, ChangeConsumer
from edfi_api.features.exchange.models import Connection, ExchangePosition, PinnedDocument, WaitingDocument
from edfi_api.features.exchange.push.models import SentDocument
from edfi_api.features.exchange.push.outbound_changes import OutboundChange
from edfi_api.features.exchange.stored_connections import consumer_of, database_of

_statement = statements_of(__file__)
_ACCEPTED, _REFUSED = _statement("accepted"), _statement("refused")
_WAITING_FOR, _REFUSED_DELETES = _statement("waiting_for"), _statement("refused_deletes")
_BEGIN = """
INSERT INTO exchange_sent_document (connection, document_uuid, resource_type_id)
SELECT %(connection)s, * FROM unnest(%(documents)s::uuid[], %(types)s::smallint[]) ON CONFLICT DO NOTHING
"""
_ROWS = """
SELECT document_uuid, remote_id, former_ids, refused_at IS NOT NULL FROM exchange_sent_document
 WHERE connection = %(connection)s AND document_uuid = ANY (%(documents)s)
"""
_SHARED = """
SELECT remote_id FROM exchange_sent_document
 WHERE connection = %(connection)s AND remote_id = ANY (%(ids)s) AND NOT document_uuid = ANY (%(documents)s)
"""
_HAS_ANOTHER = """
SELECT named.id FROM unnest(%(documents)s::uuid[], %(ids)s::text[]) AS named (document, id)
 WHERE EXISTS (SELECT FROM exchange_sent_document s WHERE s.connection = %(connection)s
                  AND s.remote_id = named.id AND s.document_uuid <> named.document)
"""
_FORGET = """
DELETE FROM exchange_sent_document
 WHERE connection = %(connection)s AND document_uuid = ANY (%(documents)s) AND former_ids = '{}'
"""
_FORMER_DELETED = """
UPDATE exchange_sent_document
   SET former_ids = array_remove(former_ids, done.id),
       refused_at = CASE WHEN array_remove(former_ids, done.id) <> '{}' THEN refused_at END
  FROM unnest(%(documents)s::uuid[], %(ids)s::text[]) AS done (document, id)
 WHERE connection = %(connection)s AND document_uuid = done.document
"""
# These are not those that were denied while not all was there: they are asked for, and have not been accepted yet.
_THERE = """
SELECT a.referential_id FROM alias a JOIN document d ON d.id = a.document_id
  JOIN exchange_sent_document s ON s.connection = %(connection)s AND s.document_uuid = d.document_uuid
 WHERE a.referential_id = ANY (%(identities)s::uuid[])
   AND (s.remote_id IS NOT NULL OR (s.refused_at IS NULL AND NOT s.is_asked))
"""
_COUNT_REFUSED = """
SELECT count(*) FROM exchange_sent_document WHERE connection = %(connection)s AND refused_at IS NOT NULL
"""
_ASKED = """
SELECT document_uuid FROM exchange_sent_document
 WHERE connection = %(connection)s AND is_asked ORDER BY id LIMIT %(most)s
"""
_ASK = """
UPDATE exchange_sent_document SET is_asked = true
 WHERE connection = %(connection)s AND refused_at IS NOT NULL
   AND (%(documents)s::uuid[] IS NULL OR document_uuid = ANY (%(documents)s)) RETURNING 1
"""
_ASK_FOR = """
UPDATE exchange_sent_document SET is_asked = true
 WHERE connection = %(connection)s AND document_uuid = ANY (%(documents)s)
"""
# The change stream's listeners, the workers of connections among them.
_WAKE = "NOTIFY document_change"
_ANSWERED = """
UPDATE exchange_sent_document SET is_asked = false
 WHERE connection = %(connection)s AND document_uuid = ANY (%(documents)s) AND is_asked
"""
_GONE = """
SELECT id, document_uuid FROM exchange_sent_document s
 WHERE connection = %(connection)s AND id > %(after)s
   AND NOT EXISTS (SELECT FROM document d WHERE d.document_uuid = s.document_uuid) ORDER BY id LIMIT %(most)s
"""
AT_ONCE = 1_000

_log = logging.getLogger("meadowlark.exchange")


@dataclass(frozen=True, slots=True)
class SentRow:
    """See `SentDocument`."""

    remote_id: str | None
    former_ids: tuple[str, ...]
    is_refused: bool


class SentDocuments:
    """The rows of one connection."""

    def __init__(self, connection: int, using: str) -> None:
        self._connection = connection
        self._using = using

    def begin(self, outbound_changes: Iterable[OutboundChange]) -> None:
        """Note that these documents are about to be sent."""
        numbers = resource_types.numbers(self._using)
        rows = [(each.document_uuid, numbers[each.resource.name]) for each in outbound_changes]
        if rows:
            documents, types = zip(*rows, strict=True)
            self._execute(_BEGIN, documents=list(documents), types=list(types))

    def rows(self, documents: Iterable[UUID]) -> dict[UUID, SentRow]:
        found = self._execute(_ROWS, documents=list(documents))
        return {row[0]: SentRow(row[1], tuple(row[2]), row[3]) for row in found}

    def of_others(self, ids: Iterable[str], documents: Iterable[UUID]) -> set[str]:
        """Return those of the remote ids that other documents have, too."""
        wanted = list(ids)
        return {row[0] for row in self._execute(_SHARED, ids=wanted, documents=list(documents))} if wanted else set()

    def with_several(self, named: Sequence[tuple[UUID, str]]) -> set[str]:
        """Return those of these documents' remote ids that another document has, too."""
        if not named:
            return set()
        documents, ids = (list(column) for column in zip(*named, strict=True))
        return {row[0] for row in self._execute(_HAS_ANOTHER, documents=documents, ids=ids)}

    def accept(self, accepted: Sequence[tuple[UUID, str | None, str | None]]) -> None:
        """Documents, their ids there, and the former ones, which are to be deleted there."""
        if accepted:
            documents, ids, former = (list(column) for column in zip(*accepted, strict=True))
            self._execute(_ACCEPTED.text, documents=documents, ids=ids, former=former)

    def refuse(self, refused: Iterable[tuple[UUID, str | None, Iterable[UUID | None]]]) -> None:
        """Documents, their ids there, and the referential ids of what they refer to and is not there."""
        rows = [{"document": document, "id": id_, "awaits": list(awaits)} for document, id_, awaits in refused]
        if rows:
            self._execute(_REFUSED.text, refused=orjson.dumps(rows).decode())

    def forget(self, documents: Iterable[UUID]) -> None:
        """What is not there any more, except what has replaced others that are."""
        if gone := list(documents):
            self._execute(_FORGET, documents=gone)

    def forget_former(self, deleted: Sequence[tuple[UUID, str]]) -> None:
        """Forget former ids that are not there any more."""
        if deleted:
            documents, ids = (list(column) for column in zip(*deleted, strict=True))
            self._execute(_FORMER_DELETED, documents=documents, ids=ids)

    def identities_there(self, identities: Iterable[UUID]) -> set[UUID]:
        """Return those of the referential ids whose documents are in the remote API."""
        wanted = list(identities)
        return {row[0] for row in self._execute(_THERE, identities=wanted)} if wanted else set()

    @property
    def refused(self) -> int:
        """How many documents are not there as they are here."""
        return int(self._execute(_COUNT_REFUSED)[0][0])

    def waiting_for(self, accepted: Iterable[UUID]) -> list[UUID]:
        """Refused documents that may be accepted now that these are: they refer to them, or these to them."""
        return [row[0] for row in self._execute(_WAITING_FOR.text, accepted=list(accepted), most=AT_ONCE)]

    def refused_deletes(self) -> list[UUID]:
        """Documents of which a delete was refused, those that have waited longest first."""
        return [row[0] for row in self._execute(_REFUSED_DELETES.text, most=AT_ONCE)]

    def ask_again(self, documents: Iterable[UUID] | None = None) -> int:
        """Note that refused documents, or all of them, are to be sent again; how many."""
        asked = self._execute(_ASK, documents=None if documents is None else list(documents))
        self._execute(_WAKE)
        return len(asked)

    def ask(self, documents: Iterable[UUID]) -> None:
        """Note that these documents, which have been sent, are to be sent again."""
        if wanted := list(documents):
            self._execute(_ASK_FOR, documents=wanted)

    def asked(self, most: int = AT_ONCE) -> list[UUID]:
        """Documents that are to be sent again."""
        return [row[0] for row in self._execute(_ASKED, most=most)]

    def end_requests(self, documents: Iterable[UUID]) -> None:
        """End the requests to send these documents again, whatever came of it."""
        self._execute(_ANSWERED, documents=list(documents))

    def gone(self) -> Iterator[list[UUID]]:
        """Documents that are not here any more, some at a time."""
        after = 0
        while rows := self._execute(_GONE, after=after, most=AT_ONCE):
            yield [document for _, document in rows]
            after = rows[-1][0]

    def _execute(self, statement: str, **parameters: Any) -> list[Any]:
        with connections[self._using].cursor() as cursor:
            cursor.execute(statement, {"connection": self._connection, **parameters})
            return list(cursor.fetchall()) if cursor.description else []


def forget_removed(instance: Connection, **_: Any) -> None:
    """Receiver of `post_delete`. A database that does not answer keeps what it has, and the log says what."""
    transaction.on_commit(partial(_forget, instance, instance.pk, consumer_of(instance)))


def _forget(connection: Connection, number: int, consumer: str) -> None:
    try:
        using = database_of(connection)
        ChangeConsumer.objects.using(using).filter(log=DOCUMENTS, name=consumer).delete()
        for model in (ExchangePosition, WaitingDocument, PinnedDocument, SentDocument):
            model._default_manager.using(using).filter(connection=number).delete()
    except (ConnectionUnusable, DatabaseError, InterfaceError) as error:
        _log.warning(
            'the database of the removed connection %s does not answer: delete its consumer "%s" there (%s)',
            connection.name,
            consumer,
            " ".join(str(error).split()),
        )
