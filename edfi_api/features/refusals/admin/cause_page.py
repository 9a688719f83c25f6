"""The page of a cause: all that a client was refused for it, what to do, and who does it.

Its address has the id of any refusal with this cause: the id of the cause itself is a digest of what is missing, by
which a list of students could be tried.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from django.contrib.admin import AdminSite
from django.contrib.postgres.aggregates import ArrayAgg
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Count, Max, Min, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from edfi_api.common.logs.printable import counted
from edfi_api.core.documents.paths import steps_of
from edfi_api.core.security.models import ApiClient, Vendor
from edfi_api.features.refusals.admin import summaries
from edfi_api.features.refusals.admin.summaries import (
    cause_in_words,
    kind_of_cause,
    outcome,
    problem_in_words,
    times,
    what_to_do,
    why,
)
from edfi_api.features.refusals.http.entries import CAUSE_PREFIX
from edfi_api.features.refusals.models import RECEIVED, CauseFollowUp, Refusal
from edfi_api.model.surface.json_schema import find_schema
from edfi_api.model.surface.ods_names import in_served_names
from edfi_api.web.admin_kit.authorship import name_of
from edfi_api.web.admin_kit.follow_up_page import EXAMPLES, Problem, days, follow_up_page
from edfi_api.web.admin_kit.kinds import kinds_at
from edfi_api.web.admin_kit.readable_values import timestamp
from edfi_api.web.admin_kit.tables import Cell, PageTable, cells, filtered
from edfi_api.web.admin_kit.titles import DocumentKey, titles
from edfi_api.web.problem_details.hints.body_hints import expectation
from edfi_api.web.problem_details.problem import HINT

_LIST = "admin:refusals_refusal_changelist"
_OVERVIEW = "admin:refusals_overview"
_HINTS_SHOWN = 3
_COUNTED = "Each document counts once: on the day of its first refusal, and on the day on which it was resolved."
_INVALID = "bad-request:data-validation-failed"


def cause_of(entry: Refusal) -> QuerySet[Refusal]:
    """Return the refusals with the cause of an entry, for the same client, data store and direction."""
    return Refusal.objects.filter(**_key(entry))


def cause_page(request: HttpRequest, site: AdminSite, entry: Refusal, *, shows_keys: bool) -> HttpResponse:
    """The page of the cause of an entry; without keys the kind of the problem stands in place of the sentence."""
    rows = cause_of(entry)
    # In the order of the index of causes, so that no other cause is read.
    open_ones = rows.filter(resolved_at=None)
    examples = list(open_ones.order_by("-sequence")[:EXAMPLES])
    latest = examples[0] if examples else entry
    problem = Problem(
        title=_title(latest, shows_keys=shows_keys),
        above=Cell("Open refusals", reverse(_OVERVIEW)),
        model=CauseFollowUp,
        key=_key(entry),
        facts=_facts(rows, latest),
        advice=[what_to_do(latest), *(_hints(latest, examples, open_ones) if shows_keys else ())],
        days=days(rows, "first_at"),
        counted=_COUNTED,
        examples=_examples(examples, shows_keys=shows_keys),
        rows=rows,
        occurred="last_at",
        links=_links(request, latest) if shows_keys else (),
        shows_notes=shows_keys,
        audit_facts={"refusal": entry.pk},
    )
    return follow_up_page(request, site, problem, DEFAULT_DB_ALIAS)


def _key(entry: Refusal) -> dict[str, Any]:
    return {
        "client": entry.client,
        "cause": entry.cause,
        "data_store": entry.data_store,
        "direction": entry.direction,
    }


def _title(entry: Refusal, *, shows_keys: bool) -> str:
    return cause_in_words(entry.cause_text) if shows_keys else kind_of_cause(entry.problem, entry.awaited_resource)


def _facts(rows: QuerySet[Refusal], entry: Refusal) -> list[tuple[str, Any]]:
    of_open = rows.filter(resolved_at=None).aggregate(
        documents=Count("*"),
        writes=Sum("count", default=0),
        first=Min("first_at"),
        last=Max("last_at"),
        resources=ArrayAgg("resource", distinct=True, default=[]),
    )
    client = ApiClient.objects.filter(pk=entry.client).select_related("application__vendor").first()
    name = "The remote API of" if entry.direction != RECEIVED else "Client"
    facts = [
        (name, f"{client.name}, of {client.application.vendor.name}" if client else f"client {entry.client}"),
        ("Open", f"{counted(of_open['documents'], 'document')}, refused {times(of_open['writes'])}"),
        ("Documents", ", ".join(sorted(map(kinds_at, of_open["resources"] or [entry.resource])))),
        ("Since", timestamp(of_open["first"] or entry.first_at)),
        ("Last", timestamp(of_open["last"] or entry.last_at)),
    ]
    return facts if of_open["documents"] else [facts[0], ("Open", "nothing any more"), *facts[2:]]


def _hints(latest: Refusal, examples: Sequence[Refusal], open_ones: QuerySet[Refusal]) -> list[str]:
    """Return the hints that the API gave, of the first refusals if the latest have none: of the operations of a batch,
    only the first get hints. Of a value, what the member takes."""
    found = [*_kept_hints(examples)] or [*_kept_hints(open_ones.order_by("sequence")[:EXAMPLES])]
    return [*dict.fromkeys(found)][:_HINTS_SHOWN] or _expected(latest)


def _kept_hints(entries: Iterable[Refusal]) -> Iterator[str]:
    for each in entries:
        yield from (text for text in each.errors if text.startswith(HINT))
        yield from (f"{HINT}{text}" for text in each.hints)


def _expected(entry: Refusal) -> list[str]:
    resource, path = summaries.resource_of_entry(entry), next(iter(entry.paths), "")
    if resource is None or entry.rules or not path or entry.problem != _INVALID:
        return []
    steps = steps_of(path)
    schema = find_schema(in_served_names(resource).json_schema, steps)
    return [] if schema is None else [f"{HINT}{path}: expected is {expectation(schema, steps[-1], resource)}."]


def _examples(entries: list[Refusal], *, shows_keys: bool) -> PageTable:
    keys = [DocumentKey(summaries.resource_of_entry(each), each.natural_key or "") for each in entries]
    shown = titles(keys, DEFAULT_DB_ALIAS if not entries else summaries.database_of(entries[0])) if shows_keys else keys
    rows = [
        cells(
            Cell(
                " ".join(filter(None, (summaries.kind_of_entry(entry), str(title) if shows_keys else ""))),
                reverse("admin:refusals_refusal_change", args=[entry.pk]),
            ),
            entry.last_at,
            entry.count,
            why(entry) if shows_keys else problem_in_words(entry.problem),
            outcome(entry),
        )
        for entry, title in zip(entries, shown, strict=True)
    ]
    heads = ("What", "Last", "Times", "Why", "State")
    return PageTable(f"The latest {EXAMPLES} that are open", heads, rows, "Nothing is open.")


def _links(request: HttpRequest, entry: Refusal) -> list[Cell]:
    """The list, the file, and what the vendor's contact gets: a page that asks for the key and secret of the client."""
    links = [
        Cell("All that are open, as a list", filtered(_LIST, {"cause": entry.cause, "client": entry.client})),
        Cell("All that are open, as CSV", reverse("admin:cause_csv", args=[entry.pk])),
    ]
    if entry.direction != RECEIVED:
        return links
    page = f"{reverse('submissions')}?{urlencode({'cause': f'{CAUSE_PREFIX}{entry.cause.hex}'})}"
    address = request.build_absolute_uri(page)
    links.append(Cell("The page for the vendor, which asks for key and secret of the client", address))
    vendor = Vendor.objects.filter(applications__api_clients=entry.client).first()
    if vendor and vendor.contact_email:
        subject, body = f"Refused documents of {name_of(entry.client)}", f"What was refused, and why: {address}"
        mail = f"mailto:{quote(vendor.contact_email, safe='@')}?subject={quote(subject)}&body={quote(body)}"
        links.append(Cell(f"Write to {vendor.contact_name or vendor.contact_email}", mail))
    return links
