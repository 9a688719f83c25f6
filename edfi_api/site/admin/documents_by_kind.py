"""The page of the admin with numbers of documents by kind, and with the latest changes."""

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from edfi_api.site.admin_site import overview
from edfi_api.web.admin_kit.list_filters import CHOSEN_RESOURCE
from edfi_api.web.admin_kit.store_choice import shown_in
from edfi_api.web.admin_kit.tables import Cell, PageTable, cells, filtered, tables_page

_DOCUMENTS = "admin:edfi_api_document_changelist"
_DESCRIPTORS = "admin:descriptors_descriptor_changelist"


def by_kind_page(request: HttpRequest, site: AdminSite) -> TemplateResponse:
    """Return the page for the shown data store."""
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
