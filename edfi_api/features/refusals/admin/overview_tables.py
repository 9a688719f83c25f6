"""The figures of `overview` as tables of pages; each number links to the list."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from edfi_api.core.writes.rules.ruled_write import WriteRule
from edfi_api.features.refusals.admin.summaries import cause_in_words, kind_of_cause, problem_in_words
from edfi_api.features.refusals.overview import LOOKED_AT, Activity, CauseCount, FoundByRule, Writes
from edfi_api.features.refusals.overview import EntryCount as Open
from edfi_api.web.admin_kit.follow_up import state_in_words
from edfi_api.web.admin_kit.kinds import kinds_at
from edfi_api.web.admin_kit.tables import Cell, PageTable, cells, filtered

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
            problem_in_words(each.name) if name == "problem" else each.name,
            kinds_at(each.resource),
            Cell(each.entries, filtered(_LIST, {name: each.choice, "resource": each.resource})),
        )
        for each in found
    ]
    return PageTable(caption, (name.capitalize(), "Kind", "Open"), rows, _NOTHING)


def causes(found: Iterable[CauseCount], *, shows_keys: bool) -> PageTable:
    """The name of a cause leads to its page; without keys it is the kind of the problem."""
    rows = [
        cells(
            Cell(
                cause_in_words(each.text) if shows_keys else kind_of_cause(each.problem, each.awaited_resource),
                reverse("admin:cause", args=[each.latest]),
            ),
            each.client_name or f"client {each.client}",
            problem_in_words(each.problem),
            Cell(each.entries, filtered(_LIST, {"cause": each.id, "client": each.client}) if shows_keys else ""),
            each.occurrences,
            "yes" if each.is_gone else "no",
            state_in_words(each.state, each.until, each.since),
        )
        for each in found
    ]
    heads = ("Cause", "Client", "Problem", "Entries", "Occurrences", "Gone", "State")
    return PageTable("Causes of most of the latest open refusals", heads, rows, _NOTHING)


def rules(configured: Iterable[WriteRule], found: Iterable[FoundByRule]) -> PageTable:
    """The configured rules of writes, and what each has found; then those that are not configured any more."""
    by_name = {each.rule: each for each in found}
    known = [(rule, by_name.pop(rule.name, None)) for rule in sorted(configured, key=lambda rule: rule.name)]
    rows = [cells(rule.name, ", ".join(rule.resources) or "all", rule.text, *_found(each)) for rule, each in known]
    rows += [cells(name, "not configured", "", *_found(each)) for name, each in by_name.items()]
    heads = ("Rule", "Resources", "Text", "Refused, open", "Warned of, open", "Occurrences", "Last")
    return PageTable(f"Rules of writes, and the latest {LOOKED_AT:,} entries", heads, rows, "There are no rules.")


def _found(found: FoundByRule | None) -> list[Any]:
    if found is None:
        return [0, 0, 0, None]
    of_rule = {"rule": found.rule}
    refused, warned = ("status__gte", "status__lt")
    return [
        Cell(found.refused, filtered(_LIST, of_rule | {refused: 400})),
        Cell(found.warned, filtered(_LIST, of_rule | {warned: 400})),
        Cell(found.occurrences, filtered(_LIST, of_rule | {"state": "all"})),
        found.last_at,
    ]


def activity(found: Iterable[Activity]) -> PageTable:
    """Return what clients have sent; the name of a client leads to the same by resource."""
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
    """Return what one client has sent, by resource."""
    rows = [
        cells(kinds_at(resource)) + _writes(writes, {"client": client, **({"resource": resource} if resource else {})})
        for resource, writes in found
    ]
    return PageTable(
        f"What {name} has written, and its writes of the last week",
        ("Kind", *_WRITES),
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
