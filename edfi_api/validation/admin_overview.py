"""The page of the admin with open results by rule and organization, and with appeared and resolved ones by week."""

from collections.abc import Sequence

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from edfi_api.operation.administration.store_choice import shown_in
from edfi_api.operation.administration.tables import Cell, PageTable, cells, filtered, tables_page

from . import overview

_LIST = "admin:validation_validationresult_changelist"


def overview_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """The parameter `by` is a kind of organizations, such as LocalEducationAgency; each has the results of those
    below it. Without, or if there is none of that kind, results are counted by their own organizations."""
    using = shown_in(request).using
    kinds = overview.kinds(using)
    chosen = request.GET.get("by")
    kind = chosen if chosen in kinds else None
    tables = [_open(overview.open_results(kind, using), kind), _by_week(overview.weeks(using))]
    above = Cell("Validation results", reverse(_LIST))
    return tables_page(request, site, tables, title="Validation", above=above, choices=_choices(kinds, kind))


def _choices(kinds: Sequence[str], chosen: str | None) -> list[Cell]:
    return [
        Cell(f"by {kind or 'organization'}", "" if kind == chosen else f"?by={kind or ''}") for kind in (None, *kinds)
    ]


def _open(found: Sequence[overview.Open], kind: str | None) -> PageTable:
    rows = [
        cells(each.name, each.severity, _text(each.organization), Cell(each.entries, _address(each))) for each in found
    ]
    heads = ("Rule", "Severity", kind or "Organization", "Open")
    return PageTable("Open results", heads, rows, "Nothing is open.")


def _by_week(found: Sequence[overview.Week]) -> PageTable:
    rows = [cells(f"{each.monday:%Y-%m-%d}", each.runs, each.appeared, each.resolved) for each in found]
    return PageTable("By week", ("Monday", "Runs", "Appeared", "Resolved"), rows, "No rule was run for twelve weeks.")


def _text(organization: int | None) -> str | None:
    return None if organization is None else str(organization)


def _address(each: overview.Open) -> str:
    filters: dict[str, object] = {"rule__id__exact": each.rule}
    if each.organization is not None:
        filters["organization"] = each.organization
    return filtered(_LIST, filters)
