"""The names of API clients, for rows that store their primary keys."""

from django.db.models import OuterRef, Subquery

from edfi_api.security.models import ApiClient


def name_in(column: str) -> Subquery:
    """For `annotate`: the name of the client whose primary key is in the column, or NULL."""
    return Subquery(ApiClient.objects.filter(pk=OuterRef(column)).values("name"))
