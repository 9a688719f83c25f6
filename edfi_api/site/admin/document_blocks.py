"""The blocks that the page of every document has: its values, and what refers to it."""

from collections.abc import Iterator, Mapping

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from edfi_api.site.person_pages.panels import is_person, person_panels
from edfi_api.web.admin_kit import related_links
from edfi_api.web.admin_kit.document_panels import Order, Panel, Place, ShownDocument
from edfi_api.web.admin_kit.readable_values import readable_values

_TEMPLATES = "admin/edfi_api/document"


def own_panels(shown: ShownDocument) -> Iterator[Panel]:
    """Yield the blocks; the values that the address names are marked. Those of a person come first."""
    document = shown.document
    yield from person_panels(shown)
    values = {"values": readable_values(document.body, document.marked)}
    yield Panel("values", "Data", _rendered("values", values), Place.BODY, Order.VALUES)
    kinds = {"referrers": related_links.by_kind(document)}
    place = Place.FOLDED if is_person(shown.resource) else Place.BODY
    yield Panel("referrers", "What refers to it", _rendered("referrers", kinds), place, Order.REFERRERS)


def _rendered(name: str, context: Mapping[str, object]) -> SafeString:
    return render_to_string(f"{_TEMPLATES}/{name}.html", dict(context))
