"""Whose entries are read: those of a client, and of an organization."""

from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.models import Q

from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.security.data_stores import visits_of

# The condition on rows of the ledger, with the parameters of a `Sender`.
SENT = "client = %(client)s AND (%(data_store)s::bigint IS NULL OR data_store = %(data_store)s)"
_BELOW = "SELECT descendant_id FROM organization_closure WHERE ancestor_id = %s"


@dataclass(frozen=True, slots=True)
class Sender:
    """A client, by the id of its row, as far as it wrote to a data store; to any if that is None."""

    client: int
    data_store: int | None

    @property
    def parameters(self) -> dict[str, Any]:
        return {"client": self.client, "data_store": self.data_store}


def within(request: EdFiRequest, organization: int) -> Q:
    """The condition on entries of an organization and those below it, by the hierarchy of the data store that was
    written to. Raises the exceptions of `data_stores` if a database cannot be used."""
    conditions = Q(organization=organization)
    for data_store, visit in visits_of(request.user, request):
        with visit, connections[visit.using].cursor() as cursor:
            cursor.execute(_BELOW, [organization])
            below = [id_ for (id_,) in cursor]
        conditions |= Q(data_store=data_store, organization__in=below)
    return conditions
