"""The page of a problem of many rows: what it is, since when, ten of the rows, what to do, and who does it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone

from edfi_api.common.logs import audit
from edfi_api.web.admin_kit.follow_up import AlreadyChanged, FollowUp, FollowUpForm, follow_ups, set_state
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.store_choice import address_with_store
from edfi_api.web.admin_kit.tables import Cell, PageTable, cells

EXAMPLES = 10
_DAYS = 30
_CHANGES_SHOWN = 20
# The chart, in units of its own.
_WIDTH_OF_DAY, _HEIGHT = 20, 80


@dataclass(frozen=True, slots=True)
class Day:
    """The numbers of rows that appeared on a day, and that were resolved."""

    day: date
    appeared: int
    resolved: int


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the chart, in its units."""

    x: int
    y: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem, as the page shows it. `model` and `key` are those of its follow-ups; `counted` says what is counted by
    day; `occurred` is the column of
    `rows` with the time of the last occurrence. Notes may name persons, so they are shown to those who see the rows
    whole."""

    title: str
    above: Cell
    model: type[FollowUp]
    key: Mapping[str, Any]
    facts: Sequence[tuple[str, Any]]
    advice: Sequence[str]
    days: Sequence[Day]
    counted: str
    examples: PageTable
    rows: QuerySet[Any]
    occurred: str
    links: Sequence[Cell] = ()
    shows_notes: bool = True
    audit_facts: Mapping[str, object] = field(default_factory=dict)


def days(rows: QuerySet[Any], appeared: str) -> list[Day]:
    """The last thirty days of the rows, the earliest first. `appeared` is the column with the time of the first
    occurrence; rows that are not kept any more are not counted."""
    today = timezone.localdate()
    shown = [today - timedelta(days=ago) for ago in reversed(range(_DAYS))]
    counts = [_by_day(rows, column, shown[0]) for column in (appeared, "resolved_at")]
    return [Day(day, *(count.get(day, 0) for count in counts)) for day in shown]


def _by_day(rows: QuerySet[Any], column: str, first: date) -> dict[date, int]:
    of_days = rows.order_by().annotate(day=TruncDate(column)).filter(day__gte=first)
    return dict(of_days.values("day").annotate(number=Count("*")).values_list("day", "number"))


def bars(found: Sequence[Day]) -> list[Bar]:
    """Two bars a day, the highest as high as the chart."""
    unit = _HEIGHT / max(1, *(max(day.appeared, day.resolved) for day in found))
    return [
        Bar(
            number * _WIDTH_OF_DAY + offset,
            round(_HEIGHT - count * unit, 1),
            round(count * unit, 1),
            kind,
            f"{day.day}: {count} {kind}",
        )
        for number, day in enumerate(found)
        for kind, count, offset in (("new", day.appeared, 0), ("resolved", day.resolved, _WIDTH_OF_DAY // 2 - 1))
        if count
    ]


def follow_up_page(request: HttpRequest, site: AdminSite, problem: Problem, using: str) -> HttpResponse:
    """GET shows the page, POST sets the state. Raises PermissionDenied."""
    may_set = request.user.has_perm(f"{problem.model._meta.app_label}.add_{problem.model._meta.model_name}")
    if request.method == "POST" and not may_set:
        raise PermissionDenied
    form = FollowUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            row = set_state(problem.model, problem.key, form.cleaned_data, request.user.get_username(), using)
        except AlreadyChanged:
            form = _form_again(request, problem, using)
        else:
            audit.log_change(
                "state of a cause set", by=request.user.get_username(), state=row.in_words, **problem.audit_facts
            )
            messages.success(request, f"The state is: {row.in_words}.")
            return HttpResponseRedirect(address_with_store(request))
    changes = follow_ups(problem.model, problem.key, using, _CHANGES_SHOWN)
    if not form.is_bound:
        latest = changes[0] if changes else None
        form = FollowUpForm(initial={"state": latest.state, "number": latest.number} if latest else {"number": 0})
    context = {
        **site.each_context(request),
        "title": problem.title,
        "problem": problem,
        "bars": bars(problem.days),
        "table_of_days": _table_of_days(problem.days),
        "latest": changes[0] if changes else None,
        "latest_at": timestamp(changes[0].set_at) if changes else "",
        "changes": _table(changes, problem.shows_notes),
        "since": count_since(problem, changes[0]) if changes else 0,
        "form": form if may_set else None,
        "form_address": address_with_store(request),
    }
    return TemplateResponse(request, "edfi_api/follow_up.html", context)


def _form_again(request: HttpRequest, problem: Problem, using: str) -> FollowUpForm:
    """Return what the user has entered, about the state that someone else has set, which the page shows."""
    [latest] = follow_ups(problem.model, problem.key, using, 1)
    form = FollowUpForm({**request.POST.dict(), "number": str(latest.number)})
    form.add_error(None, "Somebody else has just set the state, as shown above. Look at it, and set it again.")
    return form


def _table_of_days(found: Sequence[Day]) -> PageTable:
    rows = [cells(str(day.day), day.appeared, day.resolved) for day in reversed(found) if day.appeared or day.resolved]
    return PageTable("Days", ("Day", "New", "Resolved"), rows, "None.")


def _table(changes: Sequence[FollowUp], shows_notes: bool) -> PageTable:
    rows = [
        cells(each.in_words, each.username, each.set_at, each.note if shows_notes else "hidden" if each.note else "")
        for each in changes
    ]
    return PageTable("States", ("State", "By", "Set", "Note"), rows, "No one has set a state: it is open.")


def count_since(problem: Problem, latest: FollowUp) -> int:
    """Return how many rows occurred after the state was set."""
    return problem.rows.filter(**{f"{problem.occurred}__gt": latest.set_at}).count()
