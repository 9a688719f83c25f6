"""Documents in the admin: to find and read them. Changing them is the API's business, where the rules are."""

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.models import Document

# Enough to see what hangs on a document; a school is referred to by everything its students have.
_LINKS_SHOWN = 50


class ReadOnlyAdmin(admin.ModelAdmin):
    """Looks at rows and leaves them alone."""

    # Counting millions of rows for a page heading would take longer than the page.
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
    search_fields = ["=document_uuid", "natural_key__startswith"]
    search_help_text = "An id, or the beginning of a natural key such as NK#studentUniqueId=604822"
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

    @admin.display(description="body")
    def body_text(self, document: Document) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(document.body, indent=2, ensure_ascii=False))

    @admin.display
    def identities(self, document: Document) -> SafeString:
        return _lines(document.aliases.values_list("referential_id"))

    @admin.display
    def refers_to(self, document: Document) -> SafeString:
        targets = Document.objects.filter(aliases__referrers__document=document)
        return _lines(_described(targets))

    @admin.display
    def referred_to_by(self, document: Document) -> SafeString:
        referrers = Document.objects.filter(references__alias__document=document)
        return _lines(_described(referrers))


def _described(documents: QuerySet[Document]) -> QuerySet[Any, Any]:
    return documents.values_list("resource_type__name", "natural_key").distinct()[:_LINKS_SHOWN]


def _lines(rows: Any) -> SafeString:
    return format_html_join("", "{}<br>", ((" ".join(map(str, row)),) for row in rows)) or SafeString("-")
