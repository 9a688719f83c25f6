"""Filters of the list of documents by their references, in both directions: `?refers_to=17`, `?referred_to_by=17`.

The page of a document links to them where it cannot show all targets or referrers. The selected document is the only
choice, so a filter appears only when it is in the URL, and can be cleared.
"""

from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import QuerySet
from django.http import HttpRequest

from edfi_api.models import Document
from edfi_api.operation.administration.natural_keys import abridged
from edfi_api.operation.administration.read_only import ROWS_COUNTED
from edfi_api.operation.administration.store_choice import shown_in
from references.models import Reference

CHOSEN_RESOURCE = "resource_type__id__exact"


def row_in(text: str) -> int:
    """The row id in a URL parameter; -1, which no row has, for any other text."""
    return int(text) if text.isdecimal() and len(text) < len(str(2**63)) else -1


class _ReferenceFilter(admin.SimpleListFilter):
    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        documents = Document.objects.using(shown_in(request).using)
        chosen = documents.filter(pk=self._row).values_list("natural_key", flat=True).first()
        return [(str(self._row), abridged(chosen))] if chosen else []

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
