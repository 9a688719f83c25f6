"""The figures of `overview` as tables of pages; each number links to the list."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from edfi_api.operation.administration.tables import Cell, PageTable, cells, filtered
from edfi_api.refusals.overview import Activity, CauseCount, Writes
from edfi_api.refusals.overview import EntryCount as Open

_LIST = "admin:refusals_refusal_changelist"
_ACTIVITY = "admin:refusals_activity"
_WRITES = (
    "Last accepted", "Last refused",
    "Accepted, 24 hours", "Refused, 24 hours", "Accepted, 7 days", "Refused, 7 days",
)  # fmt: skip
_NOTHING = "Nothing is open."


def above() -> Cell:
    """The link to the list."""
    return Cell("Refusals", reverse(_LIST))


def open_by(name: str, caption: str, found: Iterable[Open]) -> PageTable:
    """Open entries; `name` is that of the filter for the first column."""
    rows = [
        cells(
            each.name,
            each.resource,
            Cell(each.entries, filtered(_LIST, {name: each.choice, "resource": each.resource})),
        )
        for each in found
    ]
    return PageTable(caption, (name.capitalize(), "Resource", "Open"), rows, _NOTHING)


def causes(found: Iterable[CauseCount]) -> PageTable:
    rows = [
        cells(
            each.text,
            each.problem,
            Cell(each.entries, filtered(_LIST, {"cause": each.id})),
            each.occurrences,
            "yes" if each.is_gone else "no",
        )
        for each in found
    ]
    heads = ("Cause", "Problem", "Entries", "Occurrences", "Gone")
    return PageTable("Causes of most of the latest open refusals", heads, rows, _NOTHING)


def activity(found: Iterable[Activity]) -> PageTable:
    """What clients have sent; the name of a client leads to the same by resource."""
    rows = [
        cells(each.vendor, Cell(each.name, filtered(_ACTIVITY, {"client": each.client})))
        + _writes(each.writes, {"client": each.client})
        for each in found
    ]
    return PageTable(
        "Clients, and their writes of the last week",
        ("Vendor", "Client", *_WRITES),
        rows,
        "No client has sent anything.",
    )


def activity_of(name: str, client: int, found: Iterable[tuple[str, Writes]]) -> PageTable:
    """What one client has sent, by resource."""
    rows = [
        cells(resource or "unknown resources")
        + _writes(writes, {"client": client, **({"resource": resource} if resource else {})})
        for resource, writes in found
    ]
    return PageTable(
        f"Resources that {name} has written, and its writes of the last week",
        ("Resource", *_WRITES),
        rows,
        "The client has sent nothing.",
    )


def _writes(writes: Writes, filters: dict[str, Any]) -> list[Cell]:
    return cells(
        writes.last_accepted_at,
        writes.last_refused_at,
        writes.accepted_day,
        writes.refused_day,
        writes.accepted_week,
        Cell(writes.refused_week, filtered(_LIST, {"state": "all", **filters})),
    )
