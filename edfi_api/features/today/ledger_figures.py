"""What Today says of the ledger of refusals: what is open, what was refused by vendor and day, and how fresh each feed
is. The ledger is in the admin database; `data_store` is the number of one there, None for all.

Numbers are those of the list of refusals under the same filters. Warnings are none of them: their writes were accepted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet, Sum
from django.utils import timezone

from edfi_api.features.refusals.models import OpenRefusals, Refusal, of_data_store
from edfi_api.web.write_recorder import ACCEPTED_WITH_WARNINGS

# From this status on, a write was refused.
REFUSED = 400
DAYS = 14
# A client that has written nothing for so long is no feed any more.
_DAYS_OF_FEED = 60
_IN_STORE = "(%(data_store)s::bigint IS NULL OR {row}.data_store = %(data_store)s)"
_VENDORS = """
  JOIN security_apiclient c ON c.id = {row}.client
  JOIN security_application a ON a.id = c.application_id
  JOIN security_vendor v ON v.id = a.vendor_id
"""
_BY_DAY = f"""
SELECT v.id, v.name, r.resource, (r.last_at AT TIME ZONE %(zone)s)::date, count(*)
  FROM refusal r {_VENDORS.format(row="r")}
 WHERE r.last_at >= %(since)s AND r.status >= %(refused)s AND {_IN_STORE.format(row="r")}
 GROUP BY 1, 2, 3, 4
"""  # noqa: S608  No text of others.
_OPEN = f"""
SELECT v.id, v.name, o.resource, sum(o.entries)::bigint
  FROM open_refusals o {_VENDORS.format(row="o")}
 WHERE o.problem <> %(warning)s AND {_IN_STORE.format(row="o")}
 GROUP BY 1, 2, 3 HAVING sum(o.entries) > 0
"""  # noqa: S608  Likewise.
_FEEDS = f"""
SELECT c.id, c.name, v.name, (h.hour AT TIME ZONE %(zone)s)::date, sum(h.accepted)::bigint, sum(h.refused)::bigint,
       max(h.last_accepted_at), max(h.last_refused_at)
  FROM submission_hour h {_VENDORS.format(row="h")}
 WHERE h.hour >= %(since)s AND c.is_active AND (c.expires_at IS NULL OR c.expires_at > now())
   AND {_IN_STORE.format(row="h")}
 GROUP BY 1, 2, 3, 4
"""  # noqa: S608  Likewise.


@dataclass(frozen=True, slots=True)
class OpenWrites:
    """Open entries, and how many of them can be sent again, since what they lacked is there now."""

    entries: int
    can_be_sent: int


@dataclass(slots=True)
class RefusedByDay:
    """The refused writes of a vendor to a resource: entries by the day of their last occurrence, and open ones."""

    vendor: int
    name: str
    resource: str
    days: dict[date, int] = field(default_factory=dict)
    are_open: int = 0

    @property
    def total(self) -> int:
        return self.are_open + sum(self.days.values())


@dataclass(slots=True)
class Feed:
    """The writes that a client has sent lately, in numbers of accepted writes by day."""

    client: int
    name: str
    vendor: str
    accepted: dict[date, int] = field(default_factory=dict)
    refused: dict[date, int] = field(default_factory=dict)
    accepted_at: datetime | None = None
    refused_at: datetime | None = None

    def silent_days(self, now: datetime) -> int | None:
        """Return the days since a write was accepted; None if none was."""
        return (now - self.accepted_at).days if self.accepted_at else None


def open_writes(data_store: int | None) -> OpenWrites:
    """Return what is open in all."""
    counts = of_data_store(OpenRefusals.objects.exclude(problem=ACCEPTED_WITH_WARNINGS), data_store)
    entries = counts.aggregate(entries=Sum("entries"))["entries"]
    can_be_sent = of_data_store(open_entries(), data_store).filter(cause_gone=True)
    return OpenWrites(int(entries or 0), can_be_sent.count())


def open_entries() -> QuerySet[Refusal]:
    """Return the entries of refused writes that are not resolved."""
    return Refusal.objects.filter(resolved_at=None, status__gte=REFUSED)


def open_by_organization(data_store: int | None, organizations: Sequence[int], cursor: CursorWrapper) -> dict[int, int]:
    """Return the numbers of open entries about documents of these organizations."""
    statement = f"""
    SELECT r.organization, count(*) FROM refusal r
     WHERE r.resolved_at IS NULL AND r.status >= %(refused)s AND r.organization = ANY (%(organizations)s)
       AND {_IN_STORE.format(row="r")}
     GROUP BY 1
    """  # noqa: S608  Likewise.
    values: Mapping[str, Any] = {"refused": REFUSED, "organizations": list(organizations), "data_store": data_store}
    return dict(cursor.execute(statement, values))


def refused_by_day(data_store: int | None, first: date, cursor: CursorWrapper) -> list[RefusedByDay]:
    """Return what is open, or was refused since the day, by vendor and resource, the largest numbers first."""
    values = _values(data_store, first)
    rows: dict[tuple[int, str], RefusedByDay] = {}
    for vendor, name, resource, day, number in list(cursor.execute(_BY_DAY, values)):
        rows.setdefault((vendor, resource), RefusedByDay(vendor, name, resource)).days[day] = number
    for vendor, name, resource, number in list(cursor.execute(_OPEN, values)):
        rows.setdefault((vendor, resource), RefusedByDay(vendor, name, resource)).are_open = number
    return sorted(rows.values(), key=lambda row: (-row.total, row.name, row.resource))


def feeds(data_store: int | None, today: date, cursor: CursorWrapper) -> list[Feed]:
    """Return the active clients that have written within two months, by vendor and name."""
    found: dict[int, Feed] = {}
    values = _values(data_store, today - timedelta(days=_DAYS_OF_FEED))
    for client, name, vendor, day, accepted, refused, *last in cursor.execute(_FEEDS, values):
        feed = found.setdefault(client, Feed(client, name, vendor))
        feed.accepted[day], feed.refused[day] = accepted, refused
        feed.accepted_at = _later(feed.accepted_at, last[0])
        feed.refused_at = _later(feed.refused_at, last[1])
    return sorted(found.values(), key=lambda feed: (feed.vendor, feed.name, feed.client))


def silent(found: Iterable[Feed], days: int, now: datetime) -> list[tuple[Feed, int | None]]:
    """Return the feeds of which nothing was accepted for so many days, with the days, the longest silence first."""
    late = [(feed, ago) for feed in found if (ago := feed.silent_days(now)) is None or ago >= days]
    return sorted(late, key=lambda each: (each[1] is not None, -(each[1] or 0)))


def _values(data_store: int | None, first: date) -> Mapping[str, Any]:
    zone = timezone.get_current_timezone()
    since = datetime(first.year, first.month, first.day, tzinfo=zone)
    return {
        "data_store": data_store,
        "refused": REFUSED,
        "warning": ACCEPTED_WITH_WARNINGS,
        "since": since,
        "zone": str(zone),
    }


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(filter(None, (one, other)), default=None)
