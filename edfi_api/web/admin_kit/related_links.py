"""The targets and the referrers of a document, as links for a page. Both lists are bounded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from edfi_api.core.models import Document
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.admin_kit.list_filters import CHOSEN_RESOURCE
from edfi_api.web.admin_kit.titles import DocumentKey, resource_of, titles
from references.models import Reference

# A school can have millions of referrers.
SHOWN = 50

COUNTED = 1_000
_LATEST_SHOWN = 5
# A probe of an index for each resource, which has its references together. The latest are those of the first ones, if
# these are all; otherwise also those among the latest documents of the resource.
_BY_RESOURCE = """
SELECT t.id, t.name, counted.documents, latest.rows
  FROM resource_type t
  CROSS JOIN LATERAL (
      SELECT count(DISTINCT document_id) AS documents, array_agg(DISTINCT document_id) AS rows
        FROM (SELECT document_id FROM reference
               WHERE alias_id = ANY (%(aliases)s) AND resource_type_id = t.id LIMIT %(counted)s) AS first_ones
  ) AS counted
  CROSS JOIN LATERAL (
      SELECT array_agg(id ORDER BY id DESC) AS rows
        FROM (
            SELECT id FROM unnest(counted.rows) AS id
             UNION
            SELECT id
              FROM (SELECT id FROM document d WHERE resource_type_id = t.id ORDER BY id DESC
                     LIMIT CASE WHEN counted.documents > %(exact)s THEN %(exact)s ELSE 0 END) AS near
             WHERE EXISTS (SELECT FROM reference WHERE document_id = near.id AND alias_id = ANY (%(aliases)s))
             ORDER BY id DESC LIMIT %(latest)s
        ) AS latest_ones
  ) AS latest
 WHERE counted.documents > 0
 ORDER BY t.project
"""


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
    kind = kind_in_words(document.resource_type.name).singular
    return format_html('<span class="quiet">{}</span> <a href="{}">{}</a>', kind, address, title)


@dataclass(frozen=True, slots=True)
class DocumentLink:
    """The title of a document, and the address of its page."""

    title: str
    address: str


@dataclass(frozen=True, slots=True)
class Referrers:
    """The referrers of one kind, which is in words; `address` is the list of all."""

    kind: str
    number: int
    latest: Sequence[DocumentLink]
    address: str

    @property
    def text(self) -> str:
        """The number, exact up to COUNTED."""
        return f"{self.number:,}" if self.number <= COUNTED else f"more than {COUNTED:,}"

    @property
    def has_more(self) -> bool:
        return self.number > len(self.latest)


def by_kind(document: Document) -> list[Referrers]:
    """The referrers of a document."""
    using = str(document._state.db)
    aliases = [row for (row,) in document.aliases.values_list("referential_id")]
    # A referrer by two identities, as to a school, comes twice.
    bounds: dict[str, Any] = {
        "aliases": aliases,
        "counted": COUNTED * max(len(aliases), 1) + 1,
        "latest": _LATEST_SHOWN,
        "exact": COUNTED,
    }
    with connections[using].cursor() as cursor:
        found = cursor.execute(_BY_RESOURCE, bounds).fetchall()
    named = _named([row for *_, rows in found for row in rows], using)
    everything = f"{reverse('admin:edfi_api_document_changelist')}?refers_to={document.pk}"
    kinds = [
        Referrers(
            kind_in_words(name).plural,
            number,
            [named[row] for row in rows if row in named],
            f"{everything}&{CHOSEN_RESOURCE}={id_}",
        )
        for id_, name, number, rows in found
    ]
    return sorted(kinds, key=lambda each: each.kind)


def _named(rows: Sequence[int], using: str) -> dict[int, DocumentLink]:
    documents = list(Document.objects.using(using).filter(pk__in=rows).select_related("resource_type").defer("body"))
    keys = [DocumentKey(resource_of(each.resource_type), each.natural_key) for each in documents]
    return {
        each.pk: DocumentLink(title, reverse("admin:edfi_api_document_change", args=[each.pk]))
        for each, title in zip(documents, titles(keys, using), strict=True)
    }
