"""Deleted documents in the admin: to find, read and restore them."""

import json
from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.administration.natural_keys import abridged
from edfi_api.administration.read_only import ReadOnlyAdmin
from edfi_api.change_queries.exceptions import CannotRestore
from edfi_api.change_queries.models import DeletedDocument
from edfi_api.change_queries.restoring import restore
from edfi_api.models import Document
from edfi_api.security.models import ApiClient


@admin.register(DeletedDocument)
class DeletedDocumentAdmin(ReadOnlyAdmin):
    """What was deleted, by whom and when; the action brings it back as `restore_document` does."""

    list_display = ["key", "resource", "deleted_at", "client", "state"]
    list_filter = ["deleted_at"]
    list_select_related = ["resource_type"]
    search_fields = ["=document_uuid"]
    search_help_text = "The id of a document"
    ordering = ["-change_version"]
    actions = ["restore"]
    fieldsets = [
        (None, {"fields": ["resource", "natural_key", "document_uuid", "state"]}),
        ("Body", {"fields": ["body_text"]}),
        ("Past", {"fields": ["created_at", "created_by", "last_modified_at", "last_modified_by"]}),
        ("Delete", {"fields": ["deleted_at", "client", "change_version"]}),
    ]
    readonly_fields = ["resource", "state", "client", "body_text"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeletedDocument]:
        live = Document.objects.filter(document_uuid=OuterRef("document_uuid"))
        client = ApiClient.objects.filter(pk=OuterRef("deleted_by")).values("name")
        return super().get_queryset(request).annotate(is_live=Exists(live), client_name=Subquery(client))

    def has_restore_permission(self, request: HttpRequest) -> bool:
        """Who restores adds a document."""
        return request.user.has_perm("edfi_api.add_document")

    @admin.action(description="Restore selected documents", permissions=["restore"])
    def restore(self, request: HttpRequest, queryset: QuerySet[DeletedDocument]) -> None:
        """Those deleted last come first: what others refer to could only be deleted after them."""
        for deleted in queryset.order_by("-change_version"):
            try:
                restore(deleted.document_uuid)
                self.log_change(request, deleted, "Restored.")
                self.message_user(request, f"{deleted} is restored.", messages.SUCCESS)
            except CannotRestore as refusal:
                self.message_user(request, f"{deleted} cannot be restored: {refusal}", messages.ERROR)

    @admin.display(description="document")
    def key(self, deleted: DeletedDocument) -> str:
        return abridged(deleted.natural_key)

    @admin.display(ordering="resource_type")
    def resource(self, deleted: DeletedDocument) -> str:
        return deleted.resource_type.name

    @admin.display(description="deleted by")
    def client(self, deleted: Any) -> str | None:
        """The name of an API client that there still is; nobody's, if it was a command or the admin."""
        return deleted.client_name

    @admin.display
    def state(self, deleted: Any) -> str:
        if deleted.is_live:
            return "restored"
        return "purged" if deleted.body is None else "can be restored"

    @admin.display(description="body")
    def body_text(self, deleted: DeletedDocument) -> SafeString:
        if deleted.body is None:
            return format_html("-")
        return format_html("<pre>{}</pre>", json.dumps(deleted.body, indent=2, ensure_ascii=False))
