"""Entries of an organization and those below it, by the hierarchy of the data store that was written to."""

from django.db import connections
from django.db.models import Q

from edfi_api.api.viewsets.edfi_view import EdFiRequest
from edfi_api.security.data_stores import visits_of

_BELOW = "SELECT descendant_id FROM organization_closure WHERE ancestor_id = %s"


def within(request: EdFiRequest, organization: int) -> Q:
    """The condition on entries. Raises the exceptions of `data_stores` if a database cannot be used."""
    conditions = Q(organization=organization)
    for data_store, visit in visits_of(request.user, request):
        with visit, connections[visit.using].cursor() as cursor:
            cursor.execute(_BELOW, [organization])
            below = [id_ for (id_,) in cursor]
        conditions |= Q(data_store=data_store, organization__in=below)
    return conditions
