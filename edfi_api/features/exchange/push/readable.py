"""What of the documents a connection sends: those of the selected resources that its client may read here.

The client has the claim set of the connection's API client, and the organizations of the connection, or else its own;
the conditions on rows are those of its requests.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import connections

from edfi_api.core.documents import json_text
from edfi_api.core.security.authenticated_client import AuthenticatedClient, client_of_row
from edfi_api.core.security.requests.authorization import readable_resources
from edfi_api.core.security.strategies.reach import association_types
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.sql import Sql, statements_of
from edfi_api.core.storage.row_policy import Predicate
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.push.outbound_changes import OutboundChange, delete, upsert
from edfi_api.features.exchange.resource_selection import DescriptorMapping
from edfi_api.model.surface.resource import Resource, ResourceName

_REACH_CHANGED = statements_of(__file__)("reach_changed")
_MAY_READ = Sql("""
SELECT d.document_uuid FROM document d
 WHERE d.resource_type_id = %(type)s AND d.document_uuid = ANY (%(documents)s::uuid[]) AND {is_allowed}
""")
_DOCUMENTS = """
SELECT document_uuid, resource_type_id, body::text FROM document WHERE document_uuid = ANY (%(documents)s::uuid[])
"""
_DELETED = """
SELECT DISTINCT ON (document_uuid) document_uuid, resource_type_id, body::text FROM deleted_document
 WHERE document_uuid = ANY (%(documents)s::uuid[]) ORDER BY document_uuid, change_version DESC
"""
# Finds the rows that are sent and may not be read any more, and the documents that may be read and are not sent.
_LEFT = Sql("""
SELECT d.document_uuid FROM exchange_sent_document s JOIN document d USING (document_uuid)
 WHERE s.connection = %(connection)s AND d.resource_type_id = %(type)s AND NOT {is_allowed}
""")
_ENTERED = Sql("""
SELECT d.document_uuid FROM document d
 WHERE d.resource_type_id = %(type)s AND {is_allowed} AND NOT EXISTS (
    SELECT FROM exchange_sent_document s WHERE s.connection = %(connection)s AND s.document_uuid = d.document_uuid)
""")
_AT_ONCE = 1_000


@dataclass
class NothingToPush(Exception):
    """The connection cannot say what it sends; the reason is for the operator."""

    reason: str


class ReadableDocuments:
    """The documents that a connection sends, of one database."""

    def __init__(self, connection: Connection, paths: Collection[str], mapping: DescriptorMapping, using: str) -> None:
        """`paths` are those of the selected resources. Raises NothingToPush."""
        surface = current_surface()
        selected = [each for each in surface.resources if each.url_path.strip("/") in paths and not each.is_read_only]
        self._connection = connection
        self._mapping = mapping
        self._using = using
        self._numbers = resource_types.numbers(using)
        found = list(readable_resources(reader(connection), selected, surface, using))
        # The predicates are in load order.
        self.resources = tuple(resource for resource, _ in found)
        self._predicates = {resource.name: predicate for resource, predicate in found}
        # Whether the client may read some documents of a resource and not others.
        self.is_limited = any(self._predicates.values())
        if not found:
            raise NothingToPush("The API client of the connection may read none of the selected resources.")
        if connection.education_organization_ids and not self.is_limited:
            raise NothingToPush(
                "The connection names education organizations, but the claim set of its client lets it read all "
                "documents, whatever its organizations are."
            )

    def predicate(self, resource: Resource) -> Predicate | None:
        """The condition on its documents; None if there is none."""
        return self._predicates[resource.name]

    def passes(self, outbound: OutboundChange) -> bool:
        """Return whether the document may be sent as far as its resource and the mapping decide it: a descriptor that
        has another URI there is not sent."""
        if outbound.resource.name not in self._predicates:
            return False
        body = outbound.last_body
        if not outbound.resource.is_descriptor or body is None or not self._mapping.pairs:
            return True
        return not self._mapping.has_here(f"{body['namespace']}#{body['codeValue']}")

    def of(self, outbound_changes: Iterable[OutboundChange]) -> set[UUID]:
        """Return those of the documents that may be read as they are now."""
        documents: dict[ResourceName, list[UUID]] = {}
        for each in outbound_changes:
            documents.setdefault(each.resource.name, []).append(each.document_uuid)
        found: set[UUID] = set()
        for name, ids in documents.items():
            predicate = self._predicates[name]
            found |= set(ids) if predicate is None else set(self._allowed(name, predicate, ids))
        return found

    def current_documents(self, documents: Iterable[UUID]) -> list[OutboundChange]:
        """Return the documents as they are to be at the remote API now."""
        wanted = list(documents)
        present = self._outbound_changes(_DOCUMENTS, wanted, upsert)
        gone = self._outbound_changes(_DELETED, set(wanted) - {each.document_uuid for each in present}, delete)
        readable = self.of(each for each in present if self.passes(each))
        return [
            *(each if each.document_uuid in readable else delete(*each.with_id, each.last_body) for each in present),
            *gone,
        ]

    def whose_reach_changed(self, after: int, upto: int) -> list[UUID]:
        """Documents about people whose associations have changed within these versions."""
        types = sorted({number for numbers in association_types(self._using).values() for number in numbers})
        window = {"associations": types, "after": after, "upto": upto}
        return [row[0] for row in self._rows(Sql(_REACH_CHANGED.text, window))]

    def differences(self) -> Iterator[list[UUID]]:
        """Documents that have entered what may be read, after what they refer to, and then those that have left it,
        before what they refer to; some at a time."""
        for resource in self.resources:
            yield from self._differences(_ENTERED, resource)
        for resource in reversed(self.resources):
            yield from self._differences(_LEFT, resource)

    def _differences(self, statement: Sql, resource: Resource) -> Iterator[list[UUID]]:
        predicate = self._predicates[resource.name]
        allowed = Sql("true")
        if predicate is not None:
            allowed = predicate.for_many_rows if statement is _ENTERED else predicate.for_one_row
        facts = {"connection": self._connection.pk, "type": self._numbers[resource.name]}
        found = [row[0] for row in self._rows(statement.fill(is_allowed=allowed).with_values(**facts))]
        yield from (found[first : first + _AT_ONCE] for first in range(0, len(found), _AT_ONCE))

    def _allowed(self, name: ResourceName, predicate: Predicate, ids: list[UUID]) -> Iterator[UUID]:
        facts = {"type": self._numbers[name], "documents": ids}
        statement = _MAY_READ.fill(is_allowed=predicate.for_one_row).with_values(**facts)
        yield from (row[0] for row in self._rows(statement))

    def _outbound_changes(self, statement: str, documents: Iterable[UUID], made: Any) -> list[OutboundChange]:
        names, surface = resource_types.names(self._using), current_surface()
        rows = self._rows(Sql(statement, {"documents": list(documents)}))
        return [
            made(resource, document, None if text is None else json_text.loads(text.encode()))
            for document, number, text in rows
            if (resource := surface.by_name.get(names[number]))
        ]

    def _rows(self, statement: Sql) -> list[Any]:
        with connections[self._using].cursor() as cursor:
            return list(cursor.execute(statement.text, statement.parameters))


def reader(connection: Connection) -> AuthenticatedClient:
    """The client of the connection, with the organizations of the connection if it has any. Raises NothingToPush."""
    client = client_of_row(connection.api_client_id)
    if client is None:
        raise NothingToPush("The API client of the connection is inactive, or has expired.")
    if client.profile_ids:
        raise NothingToPush("The API client of the connection is bound by API profiles. Documents are sent as a whole.")
    organizations = tuple(connection.education_organization_ids)
    return replace(client, education_organization_ids=organizations) if organizations else client
