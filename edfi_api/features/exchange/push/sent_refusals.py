"""What the remote API has refused, in the ledger of refusals: under the client of the connection, with the direction
sent; and entries of the ledger that people want to be sent again, which become rows that workers look for."""

import time
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from edfi_api.features.exchange.models import Connection, ExchangeDirection
from edfi_api.features.exchange.push.outbound_changes import OutboundChange, validator_of
from edfi_api.features.exchange.push.sent_documents import SentDocuments
from edfi_api.features.exchange.push.target import Outcome
from edfi_api.features.exchange.stored_connections import database_of
from edfi_api.features.refusals.later_writes import DEFAULT_STORE
from edfi_api.features.refusals.ledger import Ledger, Resolving, ledger_connection
from edfi_api.features.refusals.models import SENT, Refusal
from edfi_api.features.refusals.occurrences import Refusals, group_of, problem_type
from edfi_api.features.refusals.personal_data import is_hashed
from edfi_api.web.write_recorder import RefusedWrite
from references.exceptions import MissingTarget


class SentRefusals:
    """The entries of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._client = connection.api_client_id
        self._data_store = connection.data_store_id or DEFAULT_STORE

    def record(self, refused: Iterable[tuple[Outcome, Iterable[MissingTarget]]]) -> None:
        """Record refusals, with what each document refers to and the remote API does not have."""
        writes = [self._write(outcome, tuple(missing)) for outcome, missing in refused]
        ledger = Ledger(ledger_connection())
        with ledger.changes():
            ledger.record(_grouped(writes))

    def resolve(self, accepted: Iterable[OutboundChange]) -> None:
        """Close the entries of documents that are accepted now."""
        if resolving := [each for outbound in accepted for each in self._resolving(outbound)]:
            ledger = Ledger(ledger_connection())
            with ledger.changes():
                ledger.resolve(resolving)

    def _write(self, outcome: Outcome, missing: tuple[MissingTarget, ...]) -> RefusedWrite:
        outbound = outcome.outbound
        return RefusedWrite(
            client=self._client,
            data_store=self._data_store,
            resource=outbound.resource.url_path,
            validator=validator_of(outbound.resource),
            operation="delete" if outbound.is_delete else "upsert",
            problem=problem_of(outcome),
            at=time.time(),
            document_uuid=outbound.document_uuid,
            sent=outbound.last_body,
            missing=missing,
            direction=SENT,
        )

    def _resolving(self, outbound: OutboundChange) -> Iterable[Resolving]:
        ids: Iterable[UUID] = (outbound.document_uuid, *outbound.identities)
        for id_ in ids:
            yield Resolving(self._client, self._data_store, id_, time.time(), outbound.is_delete, direction=SENT)


def problem_of(outcome: Outcome) -> dict[str, Any]:
    """The problem that the remote API has sent, or what can be said without one."""
    said = outcome.problem or {}
    title = said.get("title") or said.get("message") or said.get("error") or f"Refused with status {outcome.status}"
    detail = said.get("detail", "")
    return {
        "type": said.get("type") or f"urn:ed-fi:api:status-{outcome.status}",
        "title": title,
        "status": outcome.status,
        "detail": detail,
        "validationErrors": said.get("validationErrors", {}),
        "errors": said.get("errors") or ([detail] if detail else []),
        "correlationId": outcome.correlation_id or said.get("correlationId", ""),
    }


def _grouped(writes: Iterable[RefusedWrite]) -> list[Refusals]:
    """Return the refusals by cause; each document has a place of its own."""
    groups: dict[Any, Refusals] = {}
    for write in writes:
        refusals = groups.setdefault(group_of(write), Refusals(problem_type(write.problem), write))
        refusals.add(write, write.document_uuid)
    return list(groups.values())


def ask_again(entries: Iterable[Refusal]) -> int:
    """Have the documents of these entries sent again, as far as connections have sent them; return how many. Where the
    ledger has no ids of documents, all refused ones of the same connections are sent. Raises ConnectionUnusable."""
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
