"""The state of the server on the admin's front page: a line for each thing that an administrator has to know of.

Each line takes a query or two, and is shown to users who may view what it is about.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils import timezone

from edfi_api.common.contributions import contributions
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.features.refusals import overview as refusals
from edfi_api.site.schedule.models import CommandOutcome, of_this_schedule
from edfi_api.web.admin_kit.status_lines import StatusLine, is_shown_to, shown_with, span

_HOURS_SHOWN = 48
_VENDORS_SHOWN = 6
_OTHERS = "others"
_SECONDS_OF_AN_HOUR = 3600


def lines(user: AbstractBaseUser | AnonymousUser) -> list[StatusLine]:
    """What the user may see of the server."""
    found = (*contributions("status_lines"), _data_stores, _schedule)
    return [line for each in found if is_shown_to(user, each) for line in each()]


def may_see_a_database(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether the user may see any line of `lines_of`."""
    return any(is_shown_to(user, each) for each in contributions("status_lines_of_databases"))


def lines_of(using: str, user: AbstractBaseUser | AnonymousUser) -> list[StatusLine]:
    """What the user may see of the changes in a database, and of its housekeeping."""
    found = contributions("status_lines_of_databases")
    return [line for each in found if is_shown_to(user, each) for line in each(using)]


@shown_with("data_stores.view_datastore")
def _data_stores() -> Iterator[StatusLine]:
    found = Counter(DataStore.objects.order_by("state").values_list("state", flat=True))
    if found:
        text = ", ".join(f"{number} {state}" for state, number in found.items())
        yield StatusLine("Data stores", text, any(state != State.ONLINE for state in found))


@shown_with("data_stores.view_datastore")
def _schedule() -> Iterator[StatusLine]:
    for row in of_this_schedule():
        if row.ended_at:
            ago = span(timezone.now() - row.ended_at)
            yield StatusLine(f"Scheduled {row.entry}", f"{row.outcome} {ago} ago", row.outcome == CommandOutcome.FAILED)


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
