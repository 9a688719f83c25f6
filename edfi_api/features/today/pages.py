"""Today, the first page of the admin, and the pages of schools to which it leads."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.utils import CursorWrapper
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from edfi_api.common.logs import audit
from edfi_api.core.models import Document
from edfi_api.features.today import ledger_figures
from edfi_api.features.today.counting import StoredSchool, monday
from edfi_api.features.today.figure_cache import Figure, PageFigures
from edfi_api.features.today.figures import (
    RESULTS,
    SEES_DATA,
    SEES_REFUSALS,
    SEES_RESULTS,
    Number,
    SchoolCounts,
    counts_of,
    least_complete,
    ledger_number,
    refusals_address,
)
from edfi_api.features.today.ledger_figures import DAYS, Feed, OpenWrites, RefusedByDay
from edfi_api.features.today.measures import UnusableMeasures, current_measures
from edfi_api.features.validation.admin.overview import number_of_open
from edfi_api.features.validation.admin.results import open_results
from edfi_api.web.admin_kit.kinds import kind_at
from edfi_api.web.admin_kit.list_filters import row_in
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.related_links import links
from edfi_api.web.admin_kit.store_choice import Shown, shown_in, with_choice
from edfi_api.web.admin_kit.tables import filtered

_SCHOOLS_SHOWN, _ROWS_SHOWN, _FEEDS_SHOWN, _NAMES_SHOWN = 12, 12, 20, 3
_PER_PAGE = 50
_STUDENTS_PER_PAGE = 100
_MOST_PAGES = 10**6
_WEEK = timedelta(days=7)
_FEW, _SOME, _THOUSAND = 10, 100, 1000
_BAR_HEIGHT, _BAR_WIDTH = 24, 8
_SILENT_DAYS = 7


@dataclass(frozen=True, slots=True)
class Sentence:
    """A number that leads to a list, and the words after it; `level` is good, warning or alarm."""

    number: str
    address: str
    text: str
    level: str
    more: Sequence[Number] = ()


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A client, its latest writes, and its accepted writes by day as bars."""

    feed: Feed
    address: str
    silence: str
    accepted_at: SafeString | str
    refused_at: SafeString | str
    bars: Sequence[tuple[int, float, float]]
    accepted: int
    refused: int


def today_context(request: HttpRequest, shown: Shown | None) -> dict[str, Any]:
    """Return what Today has for the user; without a chosen data store, what does not need one."""
    user: Any = request.user
    counts = counts_of(request, shown) if shown and user.has_perm(SEES_DATA) else None
    notes = counts.notes if counts else PageFigures()
    sentences: list[Sentence | None] = []
    context: dict[str, Any] = {}
    if user.has_perm(SEES_REFUSALS):
        sentences.append(_open_writes(ledger_number(shown), notes))
    if shown and user.has_perm(SEES_RESULTS):
        sentences.append(_open_findings(shown.using, notes))
    if counts:
        sentences.append(_add_schools(counts, context))
    if user.has_perm(SEES_REFUSALS):
        context |= _refused_by_day(ledger_number(shown), notes)
        sentences.append(_add_feeds(ledger_number(shown), notes, context))
    return context | {
        "sentences": [each for each in sentences if each],
        "day": timezone.localtime(),
        "notes": notes,
        "as_of": timestamp(notes.oldest) if notes.oldest else "",
    }


def school_pages(site: AdminSite) -> list[URLPattern]:
    """Return the routes of the pages to which Today leads."""

    def page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        def with_rights(request: HttpRequest, **kwargs: Any) -> HttpResponse:
            if not request.user.has_perm(SEES_DATA):
                raise PermissionDenied
            return with_choice(request, lambda: view(site, request, **kwargs))

        return site.admin_view(with_rights)

    return [
        path("schools/", page(schools_page), name="schools"),
        path("schools/<int:school>/students/", page(students_page), name="school_students"),
        path("schools/<int:school>/absences/", page(absences_page), name="school_absences"),
    ]


def schools_page(site: AdminSite, request: HttpRequest) -> HttpResponse:
    """All schools by name with their rows of Today; with `?attendance=none`, those that have sent none this week."""
    counts = _counts(request)
    schools = counts.schools()
    is_silent = request.GET.get("attendance") == "none"
    if is_silent:
        without = _without_attendance(counts) or ([], 0)
        schools = without[0]
    page = Paginator(schools, _PER_PAGE).get_page(request.GET.get("p"))
    ids = [each.organization for each in page]
    table = counts.table(list(page), counts.completeness(ids), counts.absences(ids))
    title = "Schools without attendance this week" if is_silent else "Schools"
    return _page(
        site, request, "schools", title, counts, table=table, page=page, query="attendance=none&" if is_silent else ""
    )


def students_page(site: AdminSite, request: HttpRequest, school: int) -> HttpResponse:
    """The enrolled students of a school; with `?without=contacts`, those who lack a measure."""
    counts = _counts(request)
    stored = _school(counts, school)
    name = request.GET.get("without", "")
    measure = counts.counting.measure(name) if name else None
    if name and measure is None:
        raise Http404
    audit.log_change("students of a school listed", by=request.user.get_username(), school=school)
    number, year = _page_number(request), counts.year()

    def find(cursor: CursorWrapper) -> tuple[list[tuple[int | None, str]], int]:
        offset = (number - 1) * _STUDENTS_PER_PAGE
        return counts.counting.students(
            cursor, school, without=measure, year=year, size=_STUDENTS_PER_PAGE, offset=offset
        )

    rows, total = counts.get("The students", find, school, name, number) or ([], 0)
    linked = _links([row for row, _ in rows if row is not None], counts.using)
    shown = [(linked.get(row) if row else None, student) for row, student in rows]
    title = f"Enrolled students without {measure.title.lower()}" if measure else "Enrolled students"
    return _page(
        site, request, "students", title, counts,
        school=stored, rows=shown, total=total, others=_others(total, number, f"without={name}&" if name else ""),
    )  # fmt: skip


def absences_page(site: AdminSite, request: HttpRequest, school: int) -> HttpResponse:
    """The absences of a school by week, and those of one week."""
    counts = _counts(request)
    stored = _school(counts, school)
    first = counts.first_week()
    weeks = counts.absences([school]).get(school, [])
    mondays = [first + place * _WEEK for place in range(len(weeks))]
    chosen = _monday_in(request.GET.get("week", "")) or (mondays[-1] if mondays else monday(counts.today))
    audit.log_change("absences of a school listed", by=request.user.get_username(), school=school)
    number = _page_number(request)

    def find(cursor: CursorWrapper) -> tuple[list[int], int]:
        offset = (number - 1) * _STUDENTS_PER_PAGE
        return counts.counting.absences_of_week(cursor, school, chosen, size=_STUDENTS_PER_PAGE, offset=offset)

    rows, total = counts.get("The absences", find, school, chosen, number) or ([], 0)
    linked = _links(rows, counts.using)
    top = max(weeks, default=0) or 1
    by_week = [(day, each, round(each / top * 100, 1), day == chosen) for day, each in zip(mondays, weeks, strict=True)]
    return _page(
        site, request, "absences", "Absences", counts,
        school=stored, weeks=by_week[::-1], chosen=chosen, rows=[linked[row] for row in rows if row in linked],
        total=total, others=_others(total, number, f"week={chosen}&"),
    )  # fmt: skip


def _counts(request: HttpRequest) -> SchoolCounts:
    counts = counts_of(request, shown_in(request))
    if counts is None:
        raise Http404
    return counts


def _school(counts: SchoolCounts, organization: int) -> StoredSchool:
    found = next((each for each in counts.schools() if each.organization == organization), None)
    if found is None:
        raise Http404
    return found


def _page(
    site: AdminSite, request: HttpRequest, name: str, title: str, counts: SchoolCounts, **context: Any
) -> TemplateResponse:
    notes = counts.notes
    own = {"title": title, "notes": notes, "as_of": timestamp(notes.oldest) if notes.oldest else ""}
    return TemplateResponse(request, f"admin/today/{name}.html", {**site.each_context(request), **own, **context})


def _page_number(request: HttpRequest) -> int:
    number = row_in(request.GET.get("p", ""))
    return number if 0 < number < _MOST_PAGES else 1


def _others(total: int, number: int, query: str) -> dict[str, str]:
    """Return the addresses of the pages before and after one."""
    found = {}
    if number > 1:
        found["Previous"] = f"?{query}p={number - 1}"
    if number * _STUDENTS_PER_PAGE < total:
        found["Next"] = f"?{query}p={number + 1}"
    return found


def _monday_in(text: str) -> date | None:
    try:
        return monday(date.fromisoformat(text))
    except ValueError:
        return None


def _links(rows: Sequence[int], using: str) -> dict[int, SafeString]:
    """Return links to documents by primary key."""
    found = list(Document.objects.using(using).filter(pk__in=rows).select_related("resource_type").defer("body"))
    return {document.pk: link for document, link in zip(found, links(found), strict=True)}


def _open_writes(data_store: int | None, notes: PageFigures) -> Sentence | None:
    key = ("open writes", data_store)
    find: Callable[[CursorWrapper], OpenWrites] = lambda _: ledger_figures.open_writes(data_store)  # noqa: E731
    found = notes.get("Refused writes", Figure(DEFAULT_DB_ALIAS, key, find, OpenWrites))
    if found is None:
        return None
    gone = Number(
        found.can_be_sent, refusals_address(data_store, gone="yes"), f"{found.can_be_sent:,} could be sent again now"
    )
    text = "write is refused and open" if found.entries == 1 else "writes are refused and open"
    level = "alarm" if found.entries else "good"
    return Sentence(f"{found.entries:,}", refusals_address(data_store), text, level, [gone] if gone.value else [])


def _open_findings(using: str, notes: PageFigures) -> Sentence | None:
    since = timezone.make_aware(datetime.combine(monday(timezone.localdate()), datetime.min.time()))

    def find(_: CursorWrapper) -> tuple[int, int]:
        return number_of_open(using), open_results(using).filter(appeared_at__gte=since).count()

    found = notes.get("Findings", Figure(using, ("findings", since), find, tuple[int, int]))
    if found is None:
        return None
    are_open, are_new = found
    new = Number(are_new, filtered(RESULTS, {"appeared_at__gte": since.isoformat()}), f"{are_new:,} new this week")
    text = "finding is open" if are_open == 1 else "findings are open"
    return Sentence(f"{are_open:,}", reverse(RESULTS), text, "warning" if are_open else "good", [new])


def _add_schools(counts: SchoolCounts, context: dict[str, Any]) -> Sentence | None:
    """Add the table of schools to the context, and return the sentence about attendance."""
    schools = counts.schools()
    found = counts.completeness()
    if found is None:
        chosen = schools[:_SCHOOLS_SHOWN]
        ids = [each.organization for each in chosen]
        found, absences = counts.completeness(ids), counts.absences(ids)
        counts.absences(is_shown=False)
    else:
        enrolled = [each for each in schools if each.organization in found]
        worst = least_complete(schools, found)[:_SCHOOLS_SHOWN]
        chosen = enrolled if len(enrolled) <= _SCHOOLS_SHOWN else worst
        absences = counts.absences()
    context |= {
        "table": counts.table(chosen, found, absences),
        "number_of_schools": len(schools),
        "year": (year := counts.year()),
        "week": year.week(counts.today) if year else None,
        "organization": counts.get("The name", lambda cursor: counts.counting.name_above(cursor, schools), type=str),
    }
    without = _without_attendance(counts)
    if without is None or not without[1]:
        return None
    late, number = without
    address = reverse("admin:schools")
    if not late:
        text = "school has" if number == 1 else "schools have"
        return Sentence(f"{number:,}", address, f"{text} sent attendance this week, or had no school", "good")
    more = [
        Number(0, reverse("admin:edfi_api_document_change", args=[each.row]), each.name) for each in late[:_NAMES_SHOWN]
    ]
    text = f"of {number:,} school{'s' * (number != 1)} sent no attendance this week"
    return Sentence(f"{len(late):,}", f"{address}?attendance=none", text, "alarm", more)


def _without_attendance(counts: SchoolCounts) -> tuple[list[StoredSchool], int] | None:
    """Return the schools with students that have sent no attendance this week though they had school, and the number
    of all that have students."""
    schools, figures = counts.schools(), counts.completeness()
    ids = [each.organization for each in schools]

    def find(cursor: CursorWrapper) -> set[int]:
        return set(counts.counting.without_attendance(cursor, ids))

    late = counts.get("Attendance of this week", find, type=set[int], is_shown=figures is not None)
    if figures is None or late is None:
        return None
    with_students = [each for each in schools if each.organization in figures]
    return [each for each in with_students if each.organization in late], len(with_students)


def _refused_by_day(data_store: int | None, notes: PageFigures) -> dict[str, Any]:
    today = timezone.localdate()
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS))]

    def find(cursor: CursorWrapper) -> list[RefusedByDay]:
        return ledger_figures.refused_by_day(data_store, days[0], cursor)

    figure = Figure(DEFAULT_DB_ALIAS, ("by day", days[0], data_store), find, list[RefusedByDay])
    found = notes.get("What was refused by day", figure)
    if found is None:
        return {}
    rows = [_refused_row(each, days, data_store) for each in found[:_ROWS_SHOWN]]
    return {"refused_days": days, "refused": rows, "more_refused": len(found) - len(rows)}


def _refused_row(row: RefusedByDay, days: Iterable[date], data_store: int | None) -> dict[str, Any]:
    filters = {"vendor": row.vendor, "resource": row.resource}
    cells = []
    for day in days:
        number = row.days.get(day, 0)
        times = {"last_at__gte": _begin(day), "last_at__lt": _begin(day + timedelta(days=1)), "state": "all"}
        address = refusals_address(data_store, **filters, **times)
        cells.append((day, Number(number, address, _short(number)), _heat(number)))
    kind = kind_at(row.resource).plural if row.resource else "unknown resources"
    are_open = Number(row.are_open, refusals_address(data_store, **filters))
    return {"vendor": row.name, "kind": kind, "cells": cells, "open": are_open}


def _begin(day: date) -> str:
    return timezone.make_aware(datetime.combine(day, datetime.min.time())).isoformat()


def _short(number: int) -> str:
    return f"{number // _THOUSAND}k" if number >= _THOUSAND else str(number)


def _heat(number: int) -> str:
    if not number:
        return "nothing"
    return "few" if number < _FEW else "some" if number < _SOME else "many"


def _add_feeds(data_store: int | None, notes: PageFigures, context: dict[str, Any]) -> Sentence | None:
    """Add the feeds to the context, and return the sentence about those that are silent."""
    now, today = timezone.now(), timezone.localdate()

    def find(cursor: CursorWrapper) -> list[Feed]:
        return ledger_figures.feeds(data_store, today, cursor)

    found = notes.get("Feeds", Figure(DEFAULT_DB_ALIAS, ("feeds", today, data_store), find, list[Feed]))
    if found is None:
        return None
    late = ledger_figures.silent(found, _silent_days(), now)
    silences = {feed.client: _silence(ago) for feed, ago in late}
    late_first = sorted(found, key=lambda feed: feed.client not in silences)
    context["feeds"] = [_feed_row(each, silences.get(each.client, ""), today) for each in late_first[:_FEEDS_SHOWN]]
    context["more_feeds"] = max(len(found) - _FEEDS_SHOWN, 0)
    if not found:
        return None
    if not late:
        word = "feed is" if len(found) == 1 else "feeds are"
        return Sentence(f"{len(found):,}", "#feeds", f"{word} fresh: none is silent", "good")
    more = [Number(0, _activity(feed), f"{feed.vendor}: {silences[feed.client]}") for feed, _ in late[:_NAMES_SHOWN]]
    if len(late) == 1:
        [(feed, ago)] = late
        return Sentence(feed.vendor, _activity(feed), _silence(ago), "alarm")
    return Sentence(f"{len(late):,}", "#feeds", f"of {len(found):,} feeds are silent", "alarm", more)


def _silent_days() -> int:
    try:
        return current_measures().silent_days
    except UnusableMeasures:
        return _SILENT_DAYS


def _silence(ago: int | None) -> str:
    return "nothing accepted yet" if ago is None else f"nothing accepted for {ago} day{'s' * (ago != 1)}"


def _activity(feed: Feed) -> str:
    return filtered("admin:refusals_activity", {"client": feed.client})


def _feed_row(feed: Feed, silence: str, today: date) -> FeedRow:
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS))]
    numbers = [feed.accepted.get(day, 0) for day in days]
    top = max(numbers) or 1
    heights = [max(round(_BAR_HEIGHT * each / top, 1), 1.0) if each else 0.0 for each in numbers]
    bars = [(place * _BAR_WIDTH, _BAR_HEIGHT - height, height) for place, height in enumerate(heights)]
    return FeedRow(
        feed,
        _activity(feed),
        silence,
        timestamp(feed.accepted_at),
        timestamp(feed.refused_at),
        bars,
        sum(numbers[-7:]),
        sum(feed.refused.get(day, 0) for day in days[-7:]),
    )
