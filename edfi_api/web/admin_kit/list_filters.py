"""Filters of the list of documents by time and by client, at a cost that does not grow with the table, and by their
references, in both directions: `?refers_to=17`, `?referred_to_by=17`; of refusals and results by their state.

The page of a document links to the latter where it cannot show all targets or referrers. The selected document is the
only choice, so such a filter appears only when it is in the URL, and can be cleared.
"""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.db import connections
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient
from edfi_api.web.admin_kit.read_only import ROWS_COUNTED
from edfi_api.web.admin_kit.store_choice import shown_in
from edfi_api.web.admin_kit.titles import resource_of, title_of
from references.models import Reference

CHOSEN_RESOURCE = "resource_type__id__exact"
_DAYS = {"1": "past day", "7": "past 7 days", "30": "past 30 days"}
# Versions come in the order of commits, times are those of the beginning of transactions.
_LONGEST_TRANSACTION = timedelta(hours=1)
_NEXT = """
SELECT change_version, last_modified_at FROM document
 WHERE resource_type_id = %s AND change_version >= %s ORDER BY change_version LIMIT 1
"""


def row_in(text: str) -> int:
    """The row id, or another integer of 64 bits, in a URL parameter; -1, which no row has, for any other text."""
    return int(text) if text.isdecimal() and len(text) < len(str(2**63)) else -1


class ResolutionFilter(admin.SimpleListFilter):
    """Rows that are not resolved, unless others are chosen; a search finds all."""

    title = "state"
    parameter_name = "state"

    def __init__(self, request: HttpRequest, *others: Any) -> None:
        super().__init__(request, *others)
        self._without_choice = "all" if request.GET.get(SEARCH_VAR, "").strip() else "open"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        return [("open", "open"), ("resolved", "resolved"), ("all", "all")]

    def choices(self, changelist: ChangeList) -> Any:
        for name, display in self.lookup_choices:
            address = changelist.get_query_string({self.parameter_name: name})
            yield {"selected": name == self.chosen, "query_string": address, "display": display}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.chosen == "all":
            return queryset
        return queryset.filter(resolved_at__isnull=self.chosen != "resolved")

    @property
    def chosen(self) -> str:
        """The state in the address, or that which is shown without."""
        return self.value() or self._without_choice


class _ReferenceFilter(admin.SimpleListFilter):
    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        documents = Document.objects.using(shown_in(request).using)
        chosen = documents.filter(pk=self._row).select_related("resource_type").defer("body").first()
        if chosen is None:
            return []
        return [(str(self._row), title_of(resource_of(chosen.resource_type), chosen.natural_key, documents.db))]

    def has_output(self) -> bool:
        return self.value() is not None

    @property
    def _row(self) -> int:
        return row_in(self.value() or "")


class RefersToFilter(_ReferenceFilter):
    """The documents that refer to one."""

    title = "refers to"
    parameter_name = "refers_to"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        if self.value() is None:
            return queryset
        referrers = Reference.objects.using(queryset.db).filter(alias__document_id=self._row)
        if CHOSEN_RESOURCE in request.GET:
            referrers = referrers.filter(resource_type=row_in(request.GET[CHOSEN_RESOURCE]))
        if not request.GET.get(SEARCH_VAR):
            # A descriptor can have millions of referrers, and no page shows more; a search is selective by itself.
            referrers = referrers[: ROWS_COUNTED + 1]
        return queryset.filter(pk__in=referrers.values("document_id"))


class ReferredToByFilter(_ReferenceFilter):
    """The documents that one refers to."""

    title = "referred to by"
    parameter_name = "referred_to_by"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> QuerySet[Document]:
        if self.value() is None:
            return queryset
        targets = Reference.objects.using(queryset.db).filter(document_id=self._row)
        return queryset.filter(pk__in=targets.values("alias__document_id"))


class ChangedFilter(admin.SimpleListFilter):
    """The filter by the time of the last change; only for a chosen resource, whose versions an index finds."""

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


def first_version_since(resource_type: int, timestamp: datetime, using: str) -> int:
    """A change version up to which no document of the resource was changed since: found by halving, at most 63 reads of
    an index."""
    low, high = 0, 2**63 - 1
    with connections[using].cursor() as cursor:
        while low < high:
            middle = (low + high) // 2
            found = cursor.execute(_NEXT, [resource_type, middle]).fetchone()
            if found is None or found[1] >= timestamp:
                high = middle
            else:
                low = found[0] + 1
    return low
