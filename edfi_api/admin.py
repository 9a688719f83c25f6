"""Documents in the admin: to find and read them. Changing them is the API's business, where the rules are."""

import json
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.documents import resource_types
from edfi_api.models import Document
from references.identity import descriptor_natural_key, referential_id

# Enough to see what hangs on a document; a school is referred to by everything its students have.
_LINKS_SHOWN = 50


_ROWS_COUNTED = 10_000
_NATURAL_KEY = "NK#"


class BoundedPaginator(Paginator):
    """Counts to a bound: counting millions of rows for a heading would take longer than the page."""

    @cached_property
    def count(self) -> int:
        return self.object_list.order_by()[:_ROWS_COUNTED].count()


class ReadOnlyAdmin(admin.ModelAdmin):
    """Looks at rows and leaves them alone."""

    paginator = BoundedPaginator
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    """A document with its body, its identities and its neighbours."""

    list_display = ["natural_key", "resource_type", "document_uuid", "last_modified_at"]
    list_filter = ["resource_type"]
    list_select_related = ["resource_type"]
    search_fields = ["=document_uuid"]
    search_help_text = (
        "An id, a whole natural key such as NK#studentUniqueId=604822, or, where a resource is chosen, its beginning"
    )
    ordering = ["-id"]
    fields = [
        "resource_type",
        "natural_key",
        "document_uuid",
        "body_text",
        "refers_to",
        "referred_to_by",
        "identities",
        "created_at",
        "last_modified_at",
        "change_version",
        "created_by",
    ]
    readonly_fields = ["body_text", "refers_to", "referred_to_by", "identities"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Document], search_term: str
    ) -> tuple[QuerySet[Document], bool]:
        """A whole natural key is found by its hashes, one for each resource; its beginning among one resource's."""
        term = search_term.strip()
        if not term.startswith(_NATURAL_KEY):
            return super().get_search_results(request, queryset, term)
        condition = Q(aliases__in=_possible_aliases(term))
        if "resource_type__id__exact" in request.GET:
            condition |= Q(natural_key__startswith=term)
        return queryset.filter(condition).distinct(), False

    @admin.display(description="body")
    def body_text(self, document: Document) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(document.body, indent=2, ensure_ascii=False))

    @admin.display
    def identities(self, document: Document) -> SafeString:
        return format_html_join("", "{}<br>", document.aliases.values_list("referential_id"))

    @admin.display
    def refers_to(self, document: Document) -> SafeString:
        return _links(Document.objects.filter(aliases__referrers__document=document))

    @admin.display
    def referred_to_by(self, document: Document) -> SafeString:
        return _links(Document.objects.filter(references__alias__document=document))


def _possible_aliases(natural_key: str) -> list[UUID]:
    names = resource_types.numbers()
    # Descriptors take part in lower case.
    keys = {natural_key, descriptor_natural_key(natural_key.removeprefix(_NATURAL_KEY).lower())}
    return [referential_id(name.project, name.resource, key) for name in names for key in keys]


def _links(documents: QuerySet[Document]) -> SafeString:
    rows = documents.values_list("pk", "resource_type__name", "natural_key").distinct()[:_LINKS_SHOWN]
    lines = ((reverse("admin:edfi_api_document_change", args=[pk]), name, key) for pk, name, key in rows)
    return format_html_join("", '<a href="{}">{} {}</a><br>', lines) or SafeString("-")
