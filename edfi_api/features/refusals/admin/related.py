"""Refusals about a document, and for a person or an organization about everything that refers to it by its key."""

from django.db.models import Q, QuerySet
from django.utils.safestring import SafeString

from edfi_api.core.models import Document
from edfi_api.features.refusals.admin import summaries
from edfi_api.features.refusals.models import Refusal
from edfi_api.web.admin_kit.natural_keys import elements
from edfi_api.web.admin_kit.read_only import ROWS_COUNTED
from edfi_api.web.admin_kit.titles import DocumentKey, titles

_SHOWN = 10


def latest(queryset: QuerySet[Refusal]) -> QuerySet[Refusal]:
    """Return the refusals among the latest entries of all, so that a search takes the same time however many there are.

    The condition is on a range of ids: for `IN` with the latest ones PostgreSQL would read the whole table.
    """
    earlier = Refusal.objects.order_by("-id").values_list("id", flat=True)[ROWS_COUNTED : ROWS_COUNTED + 1]
    return queryset.filter(id__gt=earlier[0]) if earlier else queryset


def with_element(element: str) -> Q:
    """Entries whose natural key has `studentUniqueId=604822`, at any path."""
    return Q(natural_key__endswith=element) | Q(natural_key__contains=f"{element}#")


def related_refusals(document: Document, data_store: int) -> list[SafeString]:
    """What became of the latest refusals about the document, the latest first."""
    about = Q(document_uuid=document.document_uuid) | Q(natural_key=document.natural_key)
    key = elements(document.natural_key)
    if len(key) == 1 and key[0].name and "." not in key[0].name:
        about |= with_element(f"{key[0].name}={key[0].value}")
    entries = list(latest(Refusal.objects.all()).filter(about, data_store=data_store).order_by("-id")[:_SHOWN])
    keys = [DocumentKey(summaries.resource_of_entry(each), each.natural_key or "") for each in entries]
    for entry, title in zip(entries, titles(keys, str(document._state.db)), strict=True):
        entry.document_title = title  # type: ignore[attr-defined]  # Read by `summary`.
    return [summaries.summary(entry, with_title=True) for entry in entries]
