"""Refused documents that people want to be sent again: entries of the ledger → rows that workers look for."""

from collections.abc import Iterable
from uuid import UUID

from edfi_api.features.exchange.models import Connection, ExchangeDirection
from edfi_api.features.exchange.push.sent_documents import SentDocuments
from edfi_api.features.exchange.stored_connections import database_of
from edfi_api.features.refusals.later_writes import DEFAULT_STORE
from edfi_api.features.refusals.models import SENT, Refusal
from edfi_api.features.refusals.personal_data import is_hashed


def ask_again(entries: Iterable[Refusal]) -> int:
    """Have the documents of these entries sent again, as far as connections have sent them; how many. Where the ledger
    has no ids of documents, all refused ones of the same connections are sent. Raises ConnectionUnusable."""
    wanted: dict[tuple[int, int], set[UUID]] = {}
    for each in entries:
        if each.direction == SENT and each.resolved_at is None and each.document_uuid is not None:
            wanted.setdefault((each.client, each.data_store), set()).add(each.document_uuid)
    return sum(
        SentDocuments(connection.pk, database_of(connection)).ask_again(None if is_hashed() else documents)
        for (client, data_store), documents in wanted.items()
        for connection in _connections(client, data_store)
    )


def _connections(client: int, data_store: int) -> Iterable[Connection]:
    store = None if data_store == DEFAULT_STORE else data_store
    return Connection.objects.select_related("data_store").filter(
        direction=ExchangeDirection.PUSH, api_client=client, data_store=store
    )
