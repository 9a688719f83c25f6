"""The page of a rule at an organization: what it finds there, what to do, and who does it."""

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import AdminSite
from django.db.models import Count, Max, Min, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from edfi_api.core.security.organizations import names_in
from edfi_api.core.served import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.features.validation.models import RuleFollowUp, ValidationResult, ValidationRule
from edfi_api.web.admin_kit.follow_up_page import EXAMPLES, Problem, days, follow_up_page
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.store_choice import store_number
from edfi_api.web.admin_kit.tables import Cell, PageTable, cells, filtered
from edfi_api.web.admin_kit.titles import DocumentKey, titles

_LIST = "admin:validation_validationresult_changelist"
CSV_COLUMNS = ("rule", "severity", "organization", "natural_key", "message", "appeared_at")
# Results of a rule that have no organization.
_WITHOUT = 0


def results_at(rule: ValidationRule, organization: int) -> QuerySet[ValidationResult]:
    """Return the results of a rule at an organization, of any state; 0 stands for those without one."""
    found = ValidationResult.objects.using(rule._state.db).filter(rule=rule)
    return found.filter(organization=None if organization == _WITHOUT else organization)


def rule_page(
    request: HttpRequest, site: AdminSite, rule: ValidationRule, organization: int, still_open: QuerySet[Any]
) -> HttpResponse:
    """The page; `still_open` are the open results of all rules that no one has dismissed singly."""
    using = str(rule._state.db)
    rows = results_at(rule, organization)
    found = still_open.filter(pk__in=rows.filter(resolved_at=None).values("pk"))
    name = _name(organization, using)
    problem = Problem(
        title=f"{rule.short_description or rule}, {name}",
        above=Cell("Validation", reverse("admin:validation_overview")),
        model=RuleFollowUp,
        key={"rule": rule, "organization": organization},
        facts=_facts(rule, name, found),
        advice=_advice(rule),
        days=days(rows, "appeared_at"),
        counted="Each finding counts once: on the day on which it appeared, and on the day on which it was resolved.",
        examples=_examples(list(found.order_by("-id")[:EXAMPLES]), using),
        rows=rows,
        occurred="appeared_at",
        links=_links(rule, organization),
        audit_facts={"rule": str(rule), "organization": organization, "data_store": store_number(request)},
    )
    return follow_up_page(request, site, problem, using)


def csv_rows(found: QuerySet[ValidationResult]) -> Iterator[list[Any]]:
    """The values of `CSV_COLUMNS`."""
    for each in found.select_related("rule").order_by("id").iterator(chunk_size=1_000):
        yield [
            str(each.rule),
            each.rule.severity,
            each.organization,
            each.natural_key,
            each.message,
            each.appeared_at.isoformat(timespec="seconds"),
        ]


def _name(organization: int, using: str) -> str:
    if organization == _WITHOUT:
        return "without an organization"
    name = names_in({organization}, using).get(organization)
    return f"{name} ({organization})" if name else str(organization)


def _facts(rule: ValidationRule, name: str, found: QuerySet[Any]) -> list[tuple[str, Any]]:
    of_open = found.aggregate(number=Count("*"), first=Min("appeared_at"), last=Max("appeared_at"))
    return [
        ("Rule", str(rule)),
        ("Organization", name),
        ("Severity", rule.severity),
        ("Open", f"{of_open['number']:,}"),
        ("Since", timestamp(of_open["first"])),
        ("Last", timestamp(of_open["last"])),
    ]


def _advice(rule: ValidationRule) -> list[str]:
    to_do = "Whose system has these data corrects and sends them. The next run of the rule then resolves its results."
    return [text for text in (rule.description, to_do) if text]


def _links(rule: ValidationRule, organization: int) -> list[Cell]:
    of_list: dict[str, Any] = {"rule__id__exact": rule.pk}
    if organization != _WITHOUT:
        of_list["organization"] = organization
    help_ = [Cell("About the rule", rule.help_url)] if rule.help_url.startswith(("https://", "http://")) else []
    return [
        *help_,
        Cell("All that are open, as a list", filtered(_LIST, of_list)),
        Cell("All that are open, as CSV", reverse("admin:validation_rule_at_csv", args=[rule.pk, organization])),
    ]


def _examples(results: list[Any], using: str) -> PageTable:
    names, by_name = resource_types.names(using), current_surface().by_name
    resources = [by_name.get(name) if (name := names.get(each.resource_type_id)) else None for each in results]
    keys = [DocumentKey(resource, each.natural_key or "") for resource, each in zip(resources, results, strict=True)]
    rows = [
        cells(
            Cell(
                str(title) or each.natural_key or "-",
                reverse("admin:validation_validationresult_change", args=[each.pk]),
            ),
            each.message,
            each.appeared_at,
        )
        for title, each in zip(titles(keys, using), results, strict=True)
    ]
    return PageTable(f"The latest {EXAMPLES} that are open", ("What", "Message", "Since"), rows, "Nothing is open.")
