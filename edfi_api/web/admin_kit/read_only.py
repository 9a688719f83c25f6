"""Read-only admin pages whose cost does not grow with the table."""

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

# Most rows that are counted and can be paged through: counting them takes some 15 ms.
ROWS_COUNTED = 100_000


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Counts up to a bound: counting millions of rows for a heading would take longer than the page.

    The keys of a page are selected first, from an index if possible; then its rows, with annotations, from `rows`. In
    a single statement PostgreSQL would also compute the annotations of all earlier pages.
    """

    rows: QuerySet[Any]
    object_list: QuerySet[Any]

    def page(self, number: int | str) -> "Page[Any]":
        page = super().page(number)
        keys = list(cast(QuerySet[Any], page.object_list).values_list("pk", flat=True))
        page.object_list = self.rows.filter(pk__in=keys).order_by(*self.object_list.query.order_by)
        return page

    @cached_property
    def count(self) -> int:
        return min(self._counted, ROWS_COUNTED)

    @property
    def has_more(self) -> bool:
        """Whether there are rows that no page shows."""
        return self._counted > ROWS_COUNTED

    @property
    def bound(self) -> str:
        return f"{ROWS_COUNTED:,}"

    @cached_property
    def _counted(self) -> int:
        rows: QuerySet[Any] = self.object_list.order_by()[: ROWS_COUNTED + 1]
        return rows.count()


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Shows rows without adding, changing or deleting."""

    paginator = BoundedPaginator
    show_full_result_count = False
    # Sorting by a column would sort the whole table.
    sortable_by = ()
    # Facets would count the whole table for each choice of a filter.
    show_facets = admin.ShowFacets.NEVER
    # What a list without rows says: what would be there, and how it comes.
    empty_text = ""

    def get_paginator(
        self, request: HttpRequest, queryset: QuerySet[Any], *args: Any, **options: Any
    ) -> "Paginator[Any]":
        if queryset.model is not self.model:  # The history of a row.
            return Paginator(queryset, *args, **options)
        paginator = super().get_paginator(request, queryset, *args, **options)
        if isinstance(paginator, BoundedPaginator):
            related: Sequence[Any] = cast(Sequence[str], self.list_select_related) or [None]
            paginator.rows = self.get_queryset(request).select_related(*related)
        return paginator

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
