"""The admin's pages of documents, to find, read and delete them. Only the API writes, since it validates."""

import json
from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import Field, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.models import Document
from edfi_api.operation.administration import key_search, overview, related_links
from edfi_api.operation.administration.client_names import name_of
from edfi_api.operation.administration.deletion import DeletionThroughStore
from edfi_api.operation.administration.list_filters import (
    CHOSEN_RESOURCE,
    ChangedFilter,
    CreatedByFilter,
    ReferredToByFilter,
    RefersToFilter,
    row_in,
)
from edfi_api.operation.administration.read_only import ReadOnlyAdmin
from edfi_api.operation.administration.store_choice import OfDataStoreAdmin, shown_in
from edfi_api.operation.administration.titles import TitledAdmin, titled
from edfi_api.operation.administration.versions import VersionPages, link
from edfi_api.startup import current_surface
from edfi_api.validation.admin import open_results_of
from references.identity import as_uuid


class PresentResourcesFilter(admin.RelatedFieldListFilter):
    """Only the resources that have documents, instead of all resources of the standard."""

    def field_choices(
        self, field: "Field[Any, Any]", request: HttpRequest, model_admin: "ModelAdmin[Any]"
    ) -> list[tuple[str, Any]]:
        return [(str(type_.pk), type_.name) for type_ in overview.resources_with_documents(shown_in(request).using)]


@admin.register(Document)
class DocumentAdmin(OfDataStoreAdmin, TitledAdmin, DeletionThroughStore, VersionPages, ReadOnlyAdmin):
    """A document with its body, its identities and its related documents."""

    list_display = ["key", "resource", "last_modified_at", "modifier"]
    list_filter = [
        RefersToFilter,
        ReferredToByFilter,
        ("resource_type", PresentResourcesFilter),
        ChangedFilter,
        CreatedByFilter,
    ]
    list_select_related = ["resource_type"]
    # Enables the search box; `get_search_results` does the search.
    search_fields = ["document_uuid"]
    search_help_text = key_search.HELP
    ordering = ["-id"]
    fieldsets = [
        (None, {"fields": ["resource", "key", "document_uuid", "versions"]}),
        ("Body", {"fields": ["body_text"]}),
        ("References", {"fields": ["refers_to", "referred_to_by"]}),
        ("Validation", {"fields": ["open_results"]}),
        (
            "Envelope",
            {"fields": ["created_at", "creator", "last_modified_at", "modifier", "change_version", "identities"]},
        ),
    ]
    readonly_fields = [
        "resource",
        "key",
        "versions",
        "body_text",
        "refers_to",
        "referred_to_by",
        "open_results",
        "creator",
        "modifier",
        "identities",
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Document | None = None) -> Any:
        """Results of validation for users who may view them."""
        may_view = request.user.has_perm("validation.view_validationresult")
        return [each for each in super().get_fieldsets(request, obj) if may_view or each[0] != "Validation"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        """Without bodies, which are loaded for the page of a single document. Ordered by the list, since the rank of a
        search is annotated here."""
        using = shown_in(request).using
        found = Document.objects.using(using).defer("body")
        return found.annotate(search_rank=key_search.rank(current_surface(), using)) if _is_search(request) else found

    def get_ordering(self, request: HttpRequest) -> list[Any]:
        """In a search, an item comes before those that refer to it."""
        return ["search_rank", "-id"] if _is_search(request) else ["-id"]

    def render_change_form(  # noqa: PLR0917  As in Django.
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Document | None = None,
    ) -> HttpResponse:
        if obj is not None:
            context |= {"title": obj.resource_type.name, "subtitle": obj.document_title}  # type: ignore[attr-defined]  # By `TitledAdmin`.
        return super().render_change_form(request, context, add, change, form_url, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Document | None = None) -> bool:
        """By Django's permissions, which `ReadOnlyAdmin` overrides."""
        return ModelAdmin.has_delete_permission(self, request, obj)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Document], search_term: str
    ) -> tuple[QuerySet[Document], bool]:
        """By the id that clients see, or by parts of natural keys."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if id_ := as_uuid(term):
            return queryset.filter(document_uuid=id_), False
        if (organization := key_search.organization_in(term)) is not None:
            return queryset.filter(resource_type__in=_searched(request), organization=organization), False
        found = key_search.find(term, current_surface(), _searched(request), queryset.db)
        if found.has_more:
            self.message_user(request, _SEARCH_WAS_BOUNDED, messages.WARNING)
        return queryset.filter(pk__in=found.rows), False

    @admin.display(description="document")
    def key(self, document: Any) -> SafeString:
        return titled(document.document_title, document.natural_key)

    @admin.display
    def resource(self, document: Document) -> str:
        return document.resource_type.name

    @admin.display
    def versions(self, document: Document) -> SafeString:
        return link(document.resource_type_id, document.document_uuid)

    @admin.display(description="body")
    def body_text(self, document: Document) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(document.body, indent=2, ensure_ascii=False))

    @admin.display
    def identities(self, document: Document) -> SafeString:
        return format_html_join("", "{}<br>", document.aliases.values_list("referential_id"))

    @admin.display
    def refers_to(self, document: Document) -> SafeString:
        return related_links.targets(document)

    @admin.display
    def referred_to_by(self, document: Document) -> SafeString:
        return related_links.as_list(related_links.referrers([document]))

    @admin.display(description="open results")
    def open_results(self, document: Document) -> SafeString:
        return related_links.as_list(open_results_of(document))

    @admin.display(description="created by")
    def creator(self, document: Any) -> str:
        """The name of the API client; "-" if a command created the document."""
        return name_of(document.created_by) or "-"

    @admin.display(description="last modified by")
    def modifier(self, document: Any) -> str:
        return name_of(document.last_modified_by) or "-"


_SEARCH_WAS_BOUNDED = (
    f"Of a resource with many such documents, {key_search.FOUND_IN_EACH} are listed, or "
    f"{key_search.FOUND_IN_ONE:,} where it is chosen. A longer part of the key finds fewer."
)


def _is_search(request: HttpRequest) -> bool:
    return bool(request.GET.get(SEARCH_VAR, "").strip())


def _searched(request: HttpRequest) -> Sequence[int]:
    if CHOSEN_RESOURCE in request.GET:
        return [row_in(request.GET[CHOSEN_RESOURCE])]
    return [type_.pk for type_ in overview.resources_with_documents(shown_in(request).using)]
