"""The names of API clients, for rows that have their numbers."""

from django.db.models import OuterRef, Subquery

from edfi_api.security.models import ApiClient


def name_in(column: str) -> Subquery:
    """For `annotate`: the name of the client whose number the column has; NULL without one."""
    return Subquery(ApiClient.objects.filter(pk=OuterRef(column)).values("name"))
