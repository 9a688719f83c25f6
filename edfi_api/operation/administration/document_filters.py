"""Filters of the list of documents by time and by client, at a cost that does not grow with the table."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.db import connections
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from edfi_api.models import Document
from edfi_api.operation.administration.reference_filters import CHOSEN_RESOURCE, row_in
from edfi_api.security.models import ApiClient

_DAYS = {"1": "past day", "7": "past 7 days", "30": "past 30 days"}
# Versions come in the order of commits, times are those of the beginning of transactions.
_LONGEST_TRANSACTION = timedelta(hours=1)
_NEXT = """
SELECT change_version, last_modified_at FROM document
 WHERE resource_type_id = %s AND change_version >= %s ORDER BY change_version LIMIT 1
"""


class ChangedFilter(admin.SimpleListFilter):
    """When documents were changed last; only for a chosen resource, whose versions an index finds."""

    title = "last modified"
    parameter_name = "changed"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        self._resource = row_in(request.GET.get(CHOSEN_RESOURCE, ""))
        return list(_DAYS.items()) if CHOSEN_RESOURCE in request.GET else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        days = self.value()
        if days not in _DAYS:
            return queryset
        since = timezone.now() - timedelta(days=int(days))
        first = first_version_since(self._resource, since - _LONGEST_TRANSACTION, queryset.db)
        return queryset.filter(change_version__gte=first, last_modified_at__gte=since)


class CreatedByFilter(admin.SimpleListFilter):
    """The client that created documents."""

    title = "created by"
    parameter_name = "created_by"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        clients = ApiClient.objects.order_by("name").values_list("pk", "name")
        return [(str(row), name) for row, name in clients]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        chosen = self.value()
        return queryset if chosen is None else queryset.filter(created_by=row_in(chosen))


def first_version_since(resource_type: int, moment: datetime, using: str) -> int:
    """A change version up to which no document of the resource was changed since: found by halving, at most 63 reads of
    an index."""
    low, high = 0, 2**63 - 1
    with connections[using].cursor() as cursor:
        while low < high:
            middle = (low + high) // 2
            found = cursor.execute(_NEXT, [resource_type, middle]).fetchone()
            if found is None or found[1] >= moment:
                high = middle
            else:
                low = found[0] + 1
    return low
