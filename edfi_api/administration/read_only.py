"""Rows to look at and leave alone, in tables of any length."""

from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils.functional import cached_property

_ROWS_COUNTED = 10_000


class BoundedPaginator(Paginator):
    """Counts to a bound: counting millions of rows for a heading would take longer than the page."""

    @cached_property
    def count(self) -> int:
        return self.object_list.order_by()[:_ROWS_COUNTED].count()

    @property
    def has_more(self) -> bool:
        """Whether there may be rows that no page shows."""
        return self.count == _ROWS_COUNTED


class ReadOnlyAdmin(admin.ModelAdmin):
    """Looks at rows and leaves them alone."""

    paginator = BoundedPaginator
    show_full_result_count = False
    # A click on a heading would sort the whole table.
    sortable_by = ()
    # So would counting for each choice of a filter.
    show_facets = admin.ShowFacets.NEVER

    class Media:
        css = {"all": ["edfi_api/admin.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
