"""What is said of results of validation outside of their pages: on the page of a document, by the search of the admin,
on the front page, and in the weekly mail. `apps.py` names these functions."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.printable import counted
from edfi_api.core.security.organizations import names_in
from edfi_api.features.validation.admin.overview import open_by_organization
from edfi_api.features.validation.admin.results import RESULTS_SHOWN, line_of, open_results, results_of
from edfi_api.features.validation.metrics import last_run
from edfi_api.features.validation.models import ValidationResult, ValidationRun
from edfi_api.web.admin_kit.document_panels import Panel, PanelOrder, Place, Problems, ShownDocument
from edfi_api.web.admin_kit.follow_up import is_dismissed, state_in_words
from edfi_api.web.admin_kit.lines import MailSection, StatusLine, path_of, shown_with, span
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.related_links import as_list
from edfi_api.web.admin_kit.search import Group, GroupOrder, Item, Search, in_time
from edfi_api.web.admin_kit.tables import filtered
from references.identity import as_uuid

_RESULT = "admin:validation_validationresult_change"
_RESULTS = "admin:validation_validationresult_changelist"
_MOST_FOUND = 10
_MORE = '<a href="{}">and more: list them all</a>'
_LIKE_IT = '{} <a href="{}">and {} more like it</a>'


def document_panels(shown: ShownDocument) -> Iterator[Panel | Problems]:
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
        yield Panel("results", "Findings that are resolved or dismissed", content, Place.FOLDED, PanelOrder.FINDINGS)


def _nothing_open(shown: ShownDocument) -> SafeString | str:
    """Return what was looked for without finding anything open."""
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


def search_groups(search: Search) -> Iterator[Group]:
    """Yield what is open about the persons, organizations and documents that were searched for."""
    if not search.may("validation.view_validationresult"):
        return
    found = in_time(_results(search)[: _MOST_FOUND + 1])
    if found:
        audit.log_change("validation results searched", by=search.request.user.get_username())
    rest = filtered(_RESULTS, {"q": search.text}) if len(found) > _MOST_FOUND and not search.documents else ""
    yield Group("findings", "Findings", GroupOrder.FINDINGS, [_item(each) for each in found[:_MOST_FOUND]], rest=rest)


def _results(search: Search) -> QuerySet[ValidationResult]:
    about = Q(student__in=search.own_values) | Q(staff__in=search.own_values) | Q(natural_key=search.text)
    if id_ := as_uuid(search.text):
        about |= Q(document_uuid=id_) | Q(result_uuid=id_)
    if organizations := [each.hierarchy[0] for each in search.documents if each.hierarchy]:
        about |= Q(organization__in=organizations)
    return open_results(search.using).filter(about).select_related("rule").order_by("-id")


def _item(result: ValidationResult) -> Item:
    detail = format_html("{}, since {}", result.rule, timestamp(result.appeared_at))
    return Item(result.rule.severity.capitalize(), result.message, reverse(_RESULT, args=[result.pk]), detail)


@shown_with("validation.view_validationrun")
def status_lines(using: str) -> Iterator[StatusLine]:
    """Yield when validation last ran, and what changed by it."""
    last = last_run(using)
    if last is None:
        yield StatusLine("Last validation", "never")
        return
    ago = span(timezone.now() - last.started_at)
    text = f"{last.status.lower()}, began {ago} ago: {last.appeared:,} appeared, {last.resolved:,} resolved"
    failed = f", {last.failed_rules} of {last.rules} rules failed" if last.failed_rules else ""
    yield StatusLine("Last validation", text + failed, last.failed_rules > 0)


def mail_section() -> MailSection:
    """Return the findings at schools that are not dismissed, of documents in the admin database, the largest numbers
    first: counts, without persons."""
    found = open_by_organization(DEFAULT_DB_ALIAS) if api_settings.has_main_store else []
    found = [each for each in found if not is_dismissed(each.until)]
    names = names_in({each.organization for each in found if each.organization is not None}, DEFAULT_DB_ALIAS)
    lines = [
        (
            f"{each.name}, {names.get(each.organization or 0) or each.organization or 'without an organization'}: "
            f"{counted(each.entries, 'result')}, {state_in_words(each.state, each.until, each.since)}",
            path_of("admin:validation_rule_at", each.rule, each.organization or 0),
        )
        for each in found
    ]
    return MailSection("What rules of validation find", counted(len(lines), "finding"), lines)
