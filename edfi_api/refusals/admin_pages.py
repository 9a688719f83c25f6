"""The figures of `overview` as tables of pages; each number links to the list."""

from collections.abc import Iterable

from django.urls import reverse

from edfi_api.operation.administration.tables import Cell, Table, cells, filtered
from edfi_api.refusals.overview import Activity, Cause
from edfi_api.refusals.overview import Cell as Open

_LIST = "admin:refusals_refusal_changelist"
_NOTHING = "Nothing is open."


def above() -> Cell:
    """The link to the list."""
    return Cell("Refusals", reverse(_LIST))


def open_by(name: str, caption: str, found: Iterable[Open]) -> Table:
    """Open entries; `name` is that of the filter for the first column."""
    rows = [
        cells(
            each.name,
            each.resource,
            Cell(each.entries, filtered(_LIST, {name: each.choice, "resource": each.resource})),
        )
        for each in found
    ]
    return Table(caption, (name.capitalize(), "Resource", "Open"), rows, _NOTHING)


def causes(found: Iterable[Cause]) -> Table:
    rows = [
        cells(each.text, each.problem, each.entries, each.occurrences, "yes" if each.is_gone else "no")
        for each in found
    ]
    heads = ("Cause", "Problem", "Entries", "Occurrences", "Gone")
    return Table("Causes of most of the latest open refusals", heads, rows, _NOTHING)


def activity(found: Iterable[Activity]) -> Table:
    """What clients have sent."""
    rows = [
        cells(
            each.vendor,
            each.name,
            each.last_accepted_at,
            each.last_refused_at,
            each.accepted_day,
            each.refused_day,
            each.accepted_week,
            Cell(each.refused_week, filtered(_LIST, {"client": each.client})),
        )
        for each in found
    ]
    heads = (
        "Vendor", "Client", "Last accepted", "Last refused",
        "Accepted, 24 hours", "Refused, 24 hours", "Accepted, 7 days", "Refused, 7 days",
    )  # fmt: skip
    return Table("Writes of the last week", heads, rows, "No client has sent anything for a week.")
