"""What the page of a document says of refused writes about it."""

from collections.abc import Iterator

from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.common.conf import api_settings
from edfi_api.features.refusals.admin.refusal_admin import VIEW_KEYS
from edfi_api.features.refusals.admin.summaries import own_element, related_refusals, searched_part, summary
from edfi_api.features.refusals.personal_data import is_hashed
from edfi_api.web.admin_kit.document_panels import Order, Panel, Place, Problems, ShownDocument
from edfi_api.web.admin_kit.related_links import as_list
from edfi_api.web.admin_kit.tables import filtered

_MOST = 10
_REFUSALS = "admin:refusals_refusal_changelist"


def refused_writes(shown: ShownDocument) -> Iterator[Panel | Problems]:
    """Yield what is open, and what became of the rest. Warnings are no problems, since their writes were accepted."""
    if not shown.may(VIEW_KEYS):
        return
    found = related_refusals(shown.document, shown.data_store, _MOST + 1)
    are_open = [each for each in found if each.resolved_at is None and not each.is_warning]
    past = [each for each in found if each not in are_open]
    sentences = [summary(each, with_title=True) for each in are_open[:_MOST]]
    yield Problems(sentences, "" if sentences else _nothing_open(), _list_of(shown) if len(are_open) > _MOST else "")
    if past:
        content = as_list([summary(each, with_title=True) for each in past[:_MOST]])
        yield Panel("refusals", "Writes that were refused before", content, Place.FOLDED, Order.REFUSED)


def _nothing_open() -> str:
    """What was looked for without finding anything open."""
    if not api_settings.WRITE_RECORDER:
        return "Refused writes are not recorded."
    if is_hashed():
        return "The ledger has no keys of documents: no open refusal is one of a write to the address of this one."
    return f"No open refusal{searched_part()} names it."


def _list_of(shown: ShownDocument) -> SafeString:
    """A link to the list of refusals, searched for the document."""
    searched = own_element(shown.document) or shown.document.natural_key
    return format_html('<a href="{}">and more: list them all</a>', filtered(_REFUSALS, {"q": searched}))
