"""Documents in the admin: to find, read and delete them. Writing is the API's business, where the rules are."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.db.models import Field, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.administration import key_search, neighbours, overview
from edfi_api.administration.deletion import DeletionThroughStore
from edfi_api.administration.natural_keys import abridged
from edfi_api.administration.read_only import ReadOnlyAdmin
from edfi_api.models import Document
from edfi_api.startup import current_surface

_CHOSEN_RESOURCE = "resource_type__id__exact"


class PresentResourcesFilter(admin.RelatedFieldListFilter):
    """The resources that have documents, instead of all that the standard knows."""

    def field_choices(self, field: Field, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[int, str]]:
        return [(type_.pk, type_.name) for type_ in overview.resources_with_documents()]


@admin.register(Document)
class DocumentAdmin(DeletionThroughStore, ReadOnlyAdmin):
    """A document with its body, its identities and its neighbours."""

    list_display = ["key", "resource", "last_modified_at"]
    list_filter = [("resource_type", PresentResourcesFilter)]
    list_select_related = ["resource_type"]
    # Says that there is a search; what it does is below.
    search_fields = ["document_uuid"]
    search_help_text = (
        "A value of a natural key such as 604822, a part of one such as studentUniqueId=604822, a whole natural key, "
        "the URI of a descriptor, or an id"
    )
    ordering = ["-id"]
    fieldsets = [
        (None, {"fields": ["resource", "natural_key", "document_uuid"]}),
        ("Body", {"fields": ["body_text"]}),
        ("References", {"fields": ["refers_to", "referred_to_by", "related_documents"]}),
        ("Envelope", {"fields": ["created_at", "created_by", "last_modified_at", "change_version", "identities"]}),
    ]
    readonly_fields = ["resource", "body_text", "refers_to", "referred_to_by", "related_documents", "identities"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        """Bodies are read where one is shown."""
        return super().get_queryset(request).defer("body")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Document | None = None, **kwargs: Any
    ) -> HttpResponse:
        if obj is not None:
            context |= {"title": obj.resource_type.name, "subtitle": abridged(obj.natural_key)}
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Document | None = None) -> bool:
        """Those of Django's permissions: a user of the staff has it or has not."""
        return ModelAdmin.has_delete_permission(self, request, obj)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Document], search_term: str
    ) -> tuple[QuerySet[Document], bool]:
        """By the id that clients see, or by what stands in natural keys."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if id_ := _as_uuid(term):
            return queryset.filter(document_uuid=id_), False
        found = key_search.find(term, current_surface(), _searched(request))
        if found.has_more:
            self.message_user(request, _SEARCH_WAS_BOUNDED, messages.WARNING)
        return queryset.filter(pk__in=found.rows), False

    @admin.display(description="natural key")
    def key(self, document: Document) -> str:
        return abridged(document.natural_key)

    @admin.display
    def resource(self, document: Document) -> str:
        return document.resource_type.name

    @admin.display(description="body")
    def body_text(self, document: Document) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(document.body, indent=2, ensure_ascii=False))

    @admin.display
    def identities(self, document: Document) -> SafeString:
        return format_html_join("", "{}<br>", document.aliases.values_list("referential_id"))

    @admin.display
    def refers_to(self, document: Document) -> SafeString:
        return neighbours.targets(document)

    @admin.display
    def referred_to_by(self, document: Document) -> SafeString:
        return neighbours.as_list(neighbours.referrers([document]))

    @admin.display(description="all of them, by the API")
    def related_documents(self, document: Document) -> SafeString:
        return neighbours.relations(document)


_SEARCH_WAS_BOUNDED = (
    f"Of a resource with many such documents, {key_search.FOUND_IN_EACH} are listed, or "
    f"{key_search.FOUND_IN_ONE:,} where it is chosen. A longer part of the key finds fewer."
)


def _searched(request: HttpRequest) -> Sequence[int]:
    chosen = request.GET.get(_CHOSEN_RESOURCE, "")
    if chosen.isdecimal():
        return [int(chosen)]
    return [type_.pk for type_ in overview.resources_with_documents()]


def _as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
