"""The state of the server on the admin's front page: a line for each thing that an administrator has to know of.

Each line takes a query or two, and is shown to users who may view what it is about.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince

from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.features.changes.change_queries.models import PurgeRun
from edfi_api.features.changes.change_stream.consumers import lags
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.features.refusals import overview as refusals
from edfi_api.features.validation.metrics import last_run
from edfi_api.site.schedule.models import CommandOutcome, of_this_schedule

# Consumers are expected to be minutes behind, not hours; housekeeping runs once a day.
_LONGEST_LAG = timedelta(hours=1)
_LONGEST_WITHOUT_PURGE = timedelta(days=2)
_MOST_LETTERS = 1_000
_HOURS_SHOWN = 48
_VENDORS_SHOWN = 6
_OTHERS = "others"
_SECONDS_OF_AN_HOUR = 3600


@dataclass(frozen=True, slots=True)
class StatusLine:
    """`needs_attention` marks what should be looked at; `address` leads to its page, if there is one."""

    name: str
    text: str
    needs_attention: bool = False
    address: str = ""


def lines(user: AbstractBaseUser | AnonymousUser) -> list[StatusLine]:
    """What the user may see of the server."""
    return [line for permission, of in _LINES if user.has_perm(permission) for line in of()]  # type: ignore[union-attr]


def may_see_a_database(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether the user may see any line of `lines_of`."""
    return any(user.has_perm(permission) for permission, _ in _LINES_OF_DATABASE)  # type: ignore[union-attr]


def lines_of(using: str, user: AbstractBaseUser | AnonymousUser) -> list[StatusLine]:
    """What the user may see of the changes in a database, and of its housekeeping."""
    return [
        line
        for permission, of in _LINES_OF_DATABASE
        if user.has_perm(permission)  # type: ignore[union-attr]
        for line in of(using)
    ]


def _refusals() -> Iterator[StatusLine]:
    entries = sum(number for _, number in refusals.open_by_vendor())
    yield StatusLine("Open refusals", f"{entries:,}", address=reverse("admin:refusals_overview"))


def _consumers(using: str) -> Iterator[StatusLine]:
    page = reverse("admin:change_queries_changeconsumer_changelist")
    found = lags(using)
    for lag in found:
        behind = timedelta(seconds=lag.seconds)
        text = f"{_span(behind)} behind" if lag.seconds else "up to date"
        yield StatusLine(f"Consumer {lag.consumer}", text, behind > _LONGEST_LAG, page)
    if not found:
        yield StatusLine("Consumers of changes", "none", address=page)


def _dead_letters(using: str) -> Iterator[StatusLine]:
    number = DeadLetter.objects.using(using)[: _MOST_LETTERS + 1].count()
    text = f"{number:,}" if number <= _MOST_LETTERS else f"more than {_MOST_LETTERS:,}"
    yield StatusLine("Dead letters", text, number > 0, reverse("admin:change_stream_deadletter_changelist"))


def _data_stores() -> Iterator[StatusLine]:
    found = Counter(DataStore.objects.order_by("state").values_list("state", flat=True))
    if found:
        text = ", ".join(f"{number} {state}" for state, number in found.items())
        yield StatusLine("Data stores", text, any(state != State.ONLINE for state in found))


def _schedule() -> Iterator[StatusLine]:
    for row in of_this_schedule():
        if row.ended_at:
            ago = _span(timezone.now() - row.ended_at)
            yield StatusLine(f"Scheduled {row.entry}", f"{row.outcome} {ago} ago", row.outcome == CommandOutcome.FAILED)


def _purge(using: str) -> Iterator[StatusLine]:
    last = PurgeRun.objects.using(using).order_by("-finished_at").first()
    if last is None:
        is_due = _is_older_than(_LONGEST_WITHOUT_PURGE, using)
        yield StatusLine("Last purge", "never: see run_schedule" if is_due else "not yet due", is_due)
        return
    age = timezone.now() - last.finished_at
    yield StatusLine("Last purge", f"{_span(age)} ago", age > _LONGEST_WITHOUT_PURGE)


def _is_older_than(age: timedelta, using: str) -> bool:
    """Whether the database was made before then."""
    first = MigrationRecorder(connections[using]).migration_qs.order_by("applied").first()
    return first is None or timezone.now() - first.applied > age


def _validation(using: str) -> Iterator[StatusLine]:
    last = last_run(using)
    if last is None:
        yield StatusLine("Last validation", "never")
        return
    ago = _span(timezone.now() - last.started_at)
    text = f"{last.status.lower()}, began {ago} ago: {last.appeared:,} appeared, {last.resolved:,} resolved"
    failed = f", {last.failed_rules} of {last.rules} rules failed" if last.failed_rules else ""
    yield StatusLine("Last validation", text + failed, last.failed_rules > 0)


def _span(length: timedelta) -> str:
    now = timezone.now()
    return timesince(now - length, now)


# The permission that a line needs, and the function that makes it.
_LINES: list[tuple[str, Callable[[], Iterator[StatusLine]]]] = [
    ("refusals.view_refusal", _refusals),
    ("data_stores.view_datastore", _data_stores),
    ("data_stores.view_datastore", _schedule),
]
_LINES_OF_DATABASE: list[tuple[str, Callable[[str], Iterator[StatusLine]]]] = [
    ("change_queries.view_changeconsumer", _consumers),
    ("change_stream.view_deadletter", _dead_letters),
    ("edfi_api.view_document", _purge),
    ("validation.view_validationrun", _validation),
]


def writes_chart() -> dict[str, Any]:
    """Writes per hour of the last two days: `hours`, and for each vendor, the busiest first, `accepted` and `refused`
    in each of them. Vendors beyond the first are one."""
    last = int(timezone.now().timestamp()) // _SECONDS_OF_AN_HOUR
    hours = [(last - ago) * _SECONDS_OF_AN_HOUR for ago in reversed(range(_HOURS_SHOWN))]
    rows = refusals.writes_by_hour(timezone.now() - timedelta(hours=_HOURS_SHOWN))
    totals: dict[str, int] = {}
    for _, vendor, accepted, refused in rows:
        totals[vendor] = totals.get(vendor, 0) + accepted + refused
    shown = sorted(totals, key=lambda vendor: (-totals[vendor], vendor))[:_VENDORS_SHOWN]
    places = {hour: place for place, hour in enumerate(hours)}
    series: dict[str, dict[str, Any]] = {}
    for hour, vendor, accepted, refused in rows:
        name = vendor if vendor in shown else _OTHERS
        nothing = {"vendor": name, "accepted": [0] * len(hours), "refused": [0] * len(hours)}
        one = series.setdefault(name, nothing)
        if hour in places:
            one["accepted"][places[hour]] += accepted
            one["refused"][places[hour]] += refused
    return {"hours": hours, "vendors": [series[name] for name in (*shown, _OTHERS) if name in series]}
