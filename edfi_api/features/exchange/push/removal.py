"""What a removed connection has left in the database with its documents goes with it: above all its consumer, for which
changes would be kept for ever."""

import logging
from functools import partial
from typing import Any

from django.db import DatabaseError, InterfaceError, transaction

from edfi_api.core.data_stores.exceptions import ConnectionUnusable
from edfi_api.features.changes.change_queries.models import DOCUMENTS, ChangeConsumer
from edfi_api.features.exchange.models import Connection, ExchangePosition, PinnedDocument, WaitingDocument
from edfi_api.features.exchange.push.models import SentDocument
from edfi_api.features.exchange.stored_connections import consumer_of, database_of

_log = logging.getLogger("meadowlark.exchange")


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
