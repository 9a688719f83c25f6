"""What the page of a school says of today: its row of the front page, what was refused or found this week, and how
fresh the kinds of its documents are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.backends.utils import CursorWrapper
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from edfi_api.core.storage import resource_types
from edfi_api.features.refusals.admin.refusal_admin import VIEW_KEYS
from edfi_api.features.refusals.admin.summaries import problem_in_words, resource_of_entry, summary
from edfi_api.features.refusals.models import Refusal, of_data_store
from edfi_api.features.refusals.personal_data import is_hashed
from edfi_api.features.today.counting import monday
from edfi_api.features.today.figure_cache import Figure
from edfi_api.features.today.figures import SEES_REFUSALS, SEES_RESULTS, Number, SchoolCounts, counts_of
from edfi_api.features.today.ledger_figures import REFUSED
from edfi_api.features.today.measures import current_measures
from edfi_api.features.validation.admin.results import line_of, of_organization_and_below, open_results
from edfi_api.features.validation.models import ValidationResult
from edfi_api.web.admin_kit.authorship import name_of
from edfi_api.web.admin_kit.document_panels import Panel, PanelOrder, Place, ShownDocument
from edfi_api.web.admin_kit.kinds import kind_at, kind_in_words
from edfi_api.web.admin_kit.list_filters import CHOSEN_RESOURCE
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.related_links import as_list
from edfi_api.web.admin_kit.store_choice import shown_in
from edfi_api.web.admin_kit.tables import filtered
from edfi_api.web.admin_kit.titles import DocumentKey, titles

_DOCUMENTS = "admin:edfi_api_document_changelist"
_REFUSAL = '<a href="{}">{}: {}</a>'
_MOST = 20
_ROW, _WEEK, _FEEDS = PanelOrder.VALUES - 3, PanelOrder.VALUES - 2, PanelOrder.VALUES - 1
_KINDS = """
SELECT d.resource_type_id, count(*), max(d.last_modified_at),
       (array_agg(d.last_modified_by ORDER BY d.last_modified_at DESC))[1]
  FROM document d
 WHERE d.resource_type_id = ANY (%(types)s) AND d.organization = %(school)s
 GROUP BY 1 ORDER BY 3 DESC
"""


@dataclass(frozen=True, slots=True)
class KindRow:
    """The documents of a kind that belong to a school, and the last write of one."""

    kind: str
    documents: Number
    written_at: SafeString | str
    writer: str


def school(shown: ShownDocument) -> Iterator[Panel]:
    """Yield the blocks of a school, as far as the user may see them."""
    counts = counts_of(shown.request, shown_in(shown.request))
    if counts is None or shown.resource is None or shown.resource.name not in current_measures().schools:
        return
    stored = next((each for each in counts.schools() if each.row == shown.document.pk), None)
    if stored is None:
        return
    ids = [stored.organization]
    table = counts.table([stored], counts.completeness(ids), counts.absences(ids))
    week, kinds = list(_week(shown, counts, stored.organization)), _kinds(counts, stored.organization)
    context = {"table": table, "notes": counts.notes, "request": shown.request}
    row = render_to_string("admin/today/row.html", context)
    yield Panel("school-today", "Today", row, Place.BODY, _ROW, is_wide=True)
    if shown.may(SEES_REFUSALS) or shown.may(SEES_RESULTS):
        content = as_list(week) if week else SafeString('<p class="quiet">Nothing was refused or found.</p>')
        yield Panel("school-week", "Refused and found this week", content, Place.BODY, _WEEK)
    if kinds:
        content = render_to_string("admin/today/kinds.html", {"kinds": kinds})
        yield Panel("school-feeds", "What is written, and when last", content, Place.BODY, _FEEDS)


def _week(shown: ShownDocument, counts: SchoolCounts, school: int) -> Iterator[SafeString]:
    """Yield messages about refused writes and open findings since Monday, the latest first."""
    since = timezone.make_aware(datetime.combine(monday(counts.today), datetime.min.time()))
    found: list[tuple[datetime, SafeString]] = []
    more: list[SafeString] = []
    if shown.may(SEES_REFUSALS):
        refused = of_data_store(
            Refusal.objects.filter(organization=school, last_at__gte=since, status__gte=REFUSED), counts.data_store
        ).order_by("-last_at")
        entries = _read(counts, DEFAULT_DB_ALIAS, "Refused writes of the week", refused, school)
        found += zip([each.last_at for each in entries], _sentences(shown, entries), strict=False)
        if len(entries) > _MOST:
            address = counts.refused_address(school, state="all", last_at__gte=since.isoformat())
            more.append(format_html('<a href="{}">All that was refused this week</a>', address))
    if shown.may(SEES_RESULTS):
        of_school = of_organization_and_below(open_results(counts.using), school)
        appeared = of_school.filter(appeared_at__gte=since).select_related("rule").order_by("-appeared_at")
        results = _read(counts, counts.using, "Findings of the week", appeared, school)
        found += [(each.appeared_at, _finding(each)) for each in results[:_MOST]]
        if len(results) > _MOST:
            address = counts.findings_address(school, appeared_at__gte=since.isoformat())
            more.append(format_html('<a href="{}">All that was found this week</a>', address))
    yield from (sentence for _, sentence in sorted(found, key=lambda each: each[0], reverse=True))
    yield from more


def _read(counts: SchoolCounts, using: str, what: str, rows: Any, school: int) -> list[Any]:
    """Return the first rows, one more than are shown, within the time limit."""
    find: Callable[[CursorWrapper], list[Any]] = lambda _: list(rows[: _MOST + 1])  # noqa: E731
    return counts.notes.get(what, Figure(using, (what, counts.today, counts.data_store, school), find)) or []


def _sentences(shown: ShownDocument, entries: list[Any]) -> Iterator[SafeString]:
    """Yield what each entry says; without the permission to see keys, its kind and problem."""
    if not shown.may(VIEW_KEYS) or is_hashed():
        for entry in entries[:_MOST]:
            address = filtered("admin:refusals_refusal_changelist", {"id": entry.pk, "state": "all"})
            yield format_html(_REFUSAL, address, kind_at(entry.resource).singular, problem_in_words(entry.problem))
        return
    keys = [DocumentKey(resource_of_entry(each), each.natural_key or "") for each in entries[:_MOST]]
    for entry, title in zip(entries, titles(keys, shown.using), strict=False):
        entry.document_title = title
        yield summary(entry, with_title=True)


def _finding(result: ValidationResult) -> SafeString:
    result.dismissed_until = None  # type: ignore[attr-defined]  # Read by `line_of`; none of these is.
    return line_of(result)


def _kinds(counts: SchoolCounts, school: int) -> list[KindRow]:
    names = resource_types.names(counts.using)

    def find(cursor: CursorWrapper) -> list[Any]:
        return list(cursor.execute(_KINDS, {"types": list(names), "school": school}))

    rows = counts.get("What is written", find, school) or []
    return [
        KindRow(
            kind_in_words(names[number].resource).plural,
            Number(documents, filtered(_DOCUMENTS, {CHOSEN_RESOURCE: number, "q": f"organization={school}"})),
            timestamp(at),
            (name_of(writer) if writer else None) or "-",
        )
        for number, documents, at, writer in rows
    ]
