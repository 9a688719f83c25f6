"""What a document refers to and what refers to it, as links for a page. Both lists have a bound."""

from collections.abc import Iterable

from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.administration.natural_keys import abridged
from edfi_api.models import Document
from edfi_api.startup import current_surface
from edfi_api.surface.resource import ResourceName
from references.models import Reference

# A school is referred to by everything its students have.
SHOWN = 50


def targets(document: Document) -> SafeString:
    """The documents and descriptors that it refers to."""
    references = Reference.objects.filter(document=document)
    return _links(references.annotate(neighbour=F("alias__document_id")))


def referrers(documents: Iterable[Document]) -> list[SafeString]:
    """The documents that refer to any of these and are none of them, as links, the last one telling of more."""
    rows = [document.pk for document in documents]
    references = Reference.objects.filter(alias__document_id__in=rows).exclude(document_id__in=rows)
    return _items(references.annotate(neighbour=F("document_id")))


def relations(document: Document) -> SafeString:
    """Where clients find all of them, page by page; it needs a token."""
    type_ = document.resource_type
    resource = current_surface().by_name.get(ResourceName(type_.project, type_.name))
    if resource is None:
        return SafeString("-")
    address = reverse("relations", args=[resource.project_endpoint, resource.endpoint, document.document_uuid])
    return format_html('<a href="{0}">{0}</a>', address)


def as_list(items: list[SafeString]) -> SafeString:
    """One below the other; a dash for none."""
    if not items:
        return SafeString("-")
    lines = format_html_join("", "<li>{}</li>", ((item,) for item in items))
    return format_html('<ul class="neighbours">{}</ul>', lines)


def _links(references: QuerySet[Reference]) -> SafeString:
    return as_list(_items(references))


def _items(references: QuerySet[Reference]) -> list[SafeString]:
    """One more than is shown is read; a referrer to a school as such and as an organization comes twice."""
    rows = list(references.values_list("neighbour", flat=True)[: SHOWN + 1])
    neighbours = Document.objects.filter(pk__in=rows[:SHOWN]).values_list("pk", "resource_type__name", "natural_key")
    items = [_link(*neighbour) for neighbour in neighbours.order_by("resource_type__name", "natural_key")]
    return items if len(rows) <= SHOWN else [*items, SafeString("and more")]


def _link(row: int, resource: str, natural_key: str) -> SafeString:
    address = reverse("admin:edfi_api_document_change", args=[row])
    return format_html('<span class="quiet">{}</span> <a href="{}">{}</a>', resource, address, abridged(natural_key))
