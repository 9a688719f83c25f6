"""The admin's pages of documents, to find, read and delete them. Only the API writes, since it validates."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.views.main import SEARCH_VAR
from django.core.exceptions import PermissionDenied
from django.db.models import Field, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from edfi_api.common.contributions import contributions
from edfi_api.core.models import Document
from edfi_api.core.served import current_surface
from edfi_api.site.admin_site import overview
from edfi_api.site.person_pages.panels import is_person, person_panels
from edfi_api.web.admin_kit import key_search, related_links
from edfi_api.web.admin_kit.authorship import name_of
from edfi_api.web.admin_kit.deletion import DeletionThroughStore
from edfi_api.web.admin_kit.document_panels import Panel, PanelOrder, Place, ShownDocument, page_of
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.list_filters import (
    CHOSEN_RESOURCE,
    ChangedFilter,
    CreatedByFilter,
    ReferredToByFilter,
    RefersToFilter,
    row_in,
)
from edfi_api.web.admin_kit.natural_keys import abridged
from edfi_api.web.admin_kit.read_only import ReadOnlyAdmin
from edfi_api.web.admin_kit.readable_values import MARK, is_marked_only_in_body, marked_body, readable_values
from edfi_api.web.admin_kit.store_choice import OfDataStoreAdmin, shown_in, with_choice
from edfi_api.web.admin_kit.tables import Cell, PageTable, cells, filtered, tables_page
from edfi_api.web.admin_kit.titles import TitledAdmin, titled
from references.identity import as_uuid

_TEMPLATES = "admin/edfi_api/document"

_DOCUMENTS = "admin:edfi_api_document_changelist"
_DESCRIPTORS = "admin:descriptors_descriptor_changelist"


class PresentResourcesFilter(admin.RelatedFieldListFilter):
    """The filter by resources that have documents, instead of all resources of the standard."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = "kind"

    def field_choices(
        self, field: "Field[Any, Any]", request: HttpRequest, model_admin: "ModelAdmin[Any]"
    ) -> list[tuple[str, Any]]:
        present = overview.resources_with_documents(shown_in(request).using)
        return sorted(((str(each.pk), kind_in_words(each.name).plural) for each in present), key=itemgetter(1))


@admin.register(Document)
class DocumentAdmin(OfDataStoreAdmin, TitledAdmin, DeletionThroughStore, ReadOnlyAdmin):
    """A document with its body, its identities and its related documents."""

    empty_text = "There are no documents yet. Clients write them through the API; load_documents loads files."
    list_display = ["key", "kind", "last_modified_at", "modifier"]
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
    change_form_template = "admin/edfi_api/document/change_form.html"
    fieldsets = [
        ("References", {"fields": ["refers_to"]}),
        (
            "Envelope",
            {
                "fields": [
                    "resource", "document_uuid", "created_at", "creator", "last_modified_at", "modifier",
                    "change_version", "identities",
                ]
            },
        ),
        ("Body", {"fields": ["body_text"]}),
    ]  # fmt: skip
    readonly_fields = ["resource", "body_text", "refers_to", "creator", "modifier", "identities"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        """Return the documents without bodies, which are loaded for the page of a single document. Ordered by the list,
        since the rank of a search is annotated here.
        """
        using = shown_in(request).using
        found = Document.objects.using(using).defer("body")
        return found.annotate(search_rank=key_search.rank(current_surface(), using)) if _is_search(request) else found

    def get_ordering(self, request: HttpRequest) -> list[Any]:
        """Return the order; in a search, an item comes before those that refer to it."""
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
            obj.marked = request.GET.getlist(MARK)  # type: ignore[attr-defined]  # Read by `body_text`.
            context |= self._page_of(request, obj)
        return super().render_change_form(request, context, add, change, form_url, obj)

    def _page_of(self, request: HttpRequest, document: Any) -> dict[str, Any]:
        """Return what the page tells of a document."""
        shown = ShownDocument.of(request, document)
        return {
            "title": kind_in_words(document.resource_type.name).singular,
            "subtitle": str(document.document_title),
            "shown_key": abridged(document.natural_key),
            "page": page_of(shown, own_panels(shown)),
            "is_marked_in_body": is_marked_only_in_body(document.body, document.marked),
        }

    def get_urls(self) -> list[URLPattern]:
        contributed = (route for routes in contributions("document_pages") for route in routes(self))
        by_kind = path("by-kind/", self.admin_site.admin_view(self.by_kind_view), name="documents_by_kind")
        return [by_kind, *contributed, *super().get_urls()]

    def by_kind_view(self, request: HttpRequest) -> HttpResponse:
        """Numbers of documents by resource, and the documents that were written last."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return with_choice(request, lambda: by_kind_page(request, self.admin_site))

    def has_delete_permission(self, request: HttpRequest, obj: Document | None = None) -> bool:
        """Decide by Django's permissions, which `ReadOnlyAdmin` overrides."""
        return ModelAdmin.has_delete_permission(self, request, obj)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Document], search_term: str
    ) -> tuple[QuerySet[Document], bool]:
        """Search by the id that clients see, or by parts of natural keys."""
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
    def kind(self, document: Document) -> str:
        return kind_in_words(document.resource_type.name).singular

    @admin.display
    def resource(self, document: Document) -> str:
        return document.resource_type.name

    @admin.display(description="body")
    def body_text(self, document: Any) -> SafeString:
        return marked_body(document.body, document.marked)

    @admin.display
    def identities(self, document: Document) -> SafeString:
        return format_html_join("", "{}<br>", document.aliases.values_list("referential_id"))

    @admin.display
    def refers_to(self, document: Document) -> SafeString:
        return related_links.targets(document)

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


def own_panels(shown: ShownDocument) -> Iterator[Panel]:
    """Yield the blocks that the page of every document has: its values, with those marked that the address names, and
    what refers to it. The blocks about a person come first."""
    document = shown.document
    yield from person_panels(shown)
    values = {"values": readable_values(document.body, document.marked)}
    yield Panel("values", "Data", _rendered("values", values), Place.BODY, PanelOrder.VALUES)
    kinds = {"referrers": related_links.by_kind(document)}
    place = Place.FOLDED if is_person(shown.resource) else Place.BODY
    yield Panel("referrers", "What refers to it", _rendered("referrers", kinds), place, PanelOrder.REFERRERS)


def _rendered(name: str, context: Mapping[str, object]) -> SafeString:
    return render_to_string(f"{_TEMPLATES}/{name}.html", dict(context))


def by_kind_page(request: HttpRequest, site: AdminSite) -> TemplateResponse:
    """Return the page with numbers of documents by kind, and with the latest changes, in the shown data store."""
    using = shown_in(request).using
    counts = overview.counts(using)
    kinds = [
        cells(
            each.kind,
            Cell(
                each.counted if each.is_exact else each.text,
                filtered(_DOCUMENTS, {CHOSEN_RESOURCE: each.resource_type}),
                stands_for_number=True,
            ),
        )
        for each in counts
        if not each.is_descriptor
    ]
    descriptors = sum(each.counted for each in counts if each.is_descriptor)
    address = reverse(_DESCRIPTORS) if request.user.has_perm("descriptors.view_descriptor") else ""
    kinds.append(cells("Descriptors", Cell(f"{descriptors:,}", address, stands_for_number=True)))
    latest = [
        cells(
            Cell(each.title, reverse("admin:edfi_api_document_change", args=[each.row])),
            each.kind,
            each.last_modified_at,
        )
        for each in overview.latest_changes(using)
    ]
    tables = [
        PageTable("Documents by kind", ("Kind", "Documents"), kinds, "There are no documents yet."),
        PageTable(
            "The documents that were written last",
            ("Document", "Kind", "Written"),
            latest,
            "There are no documents yet.",
        ),
    ]
    above = Cell("Documents", reverse(_DOCUMENTS))
    return tables_page(request, site, tables, title="Documents by kind", above=above)
