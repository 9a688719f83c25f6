"""The targets and the referrers of a document, as links for a page. Both lists are bounded."""

from collections.abc import Sequence

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.core.models import Document
from edfi_api.web.admin_kit.titles import DocumentKey, resource_of, titles
from references.models import Reference

# A school can have millions of referrers.
SHOWN = 50


def targets(document: Document) -> SafeString:
    """The documents and descriptors to which it refers."""
    references = Reference.objects.using(document._state.db).filter(document=document)
    return as_list(_items(references, "alias__document_id", _all_that("referred_to_by", document)))


def referrers(documents: Sequence[Document]) -> list[SafeString]:
    """Links to the documents that refer to any of these and are not among them; the last one to the whole list."""
    rows = [document.pk for document in documents]
    using = documents[0]._state.db if documents else None
    references = Reference.objects.using(using).filter(alias__document_id__in=rows).exclude(document_id__in=rows)
    rest = _all_that("refers_to", documents[0]) if len(documents) == 1 else SafeString("and more")
    return _items(references, "document_id", rest)


def as_list(items: list[SafeString]) -> SafeString:
    """An HTML list; a dash if it is empty."""
    if not items:
        return SafeString("-")
    lines = format_html_join("", "<li>{}</li>", ((item,) for item in items))
    return format_html('<ul class="related-links">{}</ul>', lines)


def _items(references: QuerySet[Reference], column: str, rest: SafeString) -> list[SafeString]:
    """Links to the documents in this column. Reads one more row than is shown.

    A referrer to a school, by its own and its superclass identity, comes twice.
    """
    rows = list(references.values_list(column, flat=True)[: SHOWN + 1])
    related = Document.objects.using(references.db).filter(pk__in=rows[:SHOWN]).defer("body")
    items = links(list(related.select_related("resource_type").order_by("resource_type__name", "natural_key")))
    return items if len(rows) <= SHOWN else [*items, rest]


def links(documents: Sequence[Document]) -> list[SafeString]:
    """A link to each, with its resource before it."""
    keys = [DocumentKey(resource_of(document.resource_type), document.natural_key) for document in documents]
    named = titles(keys, documents[0]._state.db or DEFAULT_DB_ALIAS) if documents else []
    return [_link(document, title) for document, title in zip(documents, named, strict=True)]


def _all_that(parameter: str, document: Document) -> SafeString:
    """A link to the list of documents with a filter by references."""
    return format_html(
        '<a href="{}?{}={}">and more: list them all</a>',
        reverse("admin:edfi_api_document_changelist"),
        parameter,
        document.pk,
    )


def _link(document: Document, title: str) -> SafeString:
    address = reverse("admin:edfi_api_document_change", args=[document.pk])
    return format_html('<span class="quiet">{}</span> <a href="{}">{}</a>', document.resource_type.name, address, title)
