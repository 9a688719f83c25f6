"""What the page of a document says of results of validation about it."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.features.validation.admin.results import RESULTS_SHOWN, line_of, results_of
from edfi_api.features.validation.models import ValidationRun
from edfi_api.web.admin_kit.document_panels import Order, Panel, Place, Problems, ShownDocument
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.related_links import as_list
from edfi_api.web.admin_kit.tables import filtered

_RESULTS = "admin:validation_validationresult_changelist"
_MORE = '<a href="{}">and more: list them all</a>'
_LIKE_IT = '{} <a href="{}">and {} more like it</a>'


def findings(shown: ShownDocument) -> Iterator[Panel | Problems]:
    """Yield what is open, and apart from it what is resolved, or dismissed as no problem."""
    if not shown.may("validation.view_validationresult"):
        return
    found = results_of(shown.document)
    are_open = [each for each in found if each.resolved_at is None and each.dismissed_until is None]
    past = [each for each in found if each not in are_open]
    more = format_html(_MORE, _list_of(shown)) if len(are_open) > RESULTS_SHOWN else ""
    sentences = list(_lines(shown, are_open[:RESULTS_SHOWN]))
    yield Problems(sentences, "" if sentences else _nothing_open(shown), more)
    if past:
        content = as_list([line_of(each) for each in past])
        yield Panel("results", "Findings that are resolved or dismissed", content, Place.FOLDED, Order.FINDINGS)


def _nothing_open(shown: ShownDocument) -> SafeString | str:
    """What was looked for without finding anything open."""
    finished = ValidationRun.objects.using(shown.using).filter(finished_at__isnull=False)
    last = finished.order_by("-id").values_list("finished_at", flat=True).first()
    if last is None:
        return "Validation has not run."
    return format_html("No finding about it is open after the validation of {}.", timestamp(last))


def _lines(shown: ShownDocument, are_open: Sequence[Any]) -> Iterator[SafeString]:
    """A line for each sentence: a rule may find the same in many documents of a person."""
    alike: dict[tuple[int, str], list[Any]] = {}
    for each in are_open:
        alike.setdefault((each.rule_id, each.message), []).append(each)
    for (rule, _), (first, *others) in alike.items():
        line = line_of(first)
        address = _list_of(shown, rule__id__exact=rule)
        yield format_html(_LIKE_IT, line, address, len(others)) if others else line


def _list_of(shown: ShownDocument, **filters: Any) -> str:
    """The address of the list of open results about the document."""
    document = shown.document
    if document.hierarchy:
        filters["organization"] = document.hierarchy[0]
    else:
        filters["q"] = (document.is_person and (document.student or document.staff)) or document.document_uuid
    return filtered(_RESULTS, filters)
