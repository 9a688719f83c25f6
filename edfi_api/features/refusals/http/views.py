"""`/submissions/v1`: refused writes of the client that requests them, and of no other: entries, their open causes, each
of which is resolved by one correction, and entries and writes by resource."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet
from django.db.transaction import atomic
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.status import HTTP_204_NO_CONTENT

from edfi_api.common.addresses import root_of
from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.core.queries.csv_text import CONTENT_TYPE, csv_file, prefers_csv
from edfi_api.core.queries.exceptions import UnknownQueryField
from edfi_api.core.queries.listing import Listed, listed, total_of
from edfi_api.core.security.requests.data_stores import data_store_in_address
from edfi_api.core.served import current_surface
from edfi_api.features.refusals.http import entries
from edfi_api.features.refusals.http.entries import CAUSE_PREFIX, as_text
from edfi_api.features.refusals.ledger import Ledger, ledger_connection
from edfi_api.features.refusals.models import RECEIVED, Refusal, of_data_store
from edfi_api.web.admin_kit.kinds import kind_in_words
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.viewsets.edfi_view import EdFiRequest, EdFiView, OpenPageView
from edfi_api.web.viewsets.responses import EmptyResponse, JsonTextResponse, html_page, json_file_response
from references.identity import as_uuid

# The place of a resource in the load order, by its path.
PlaceOf = Callable[[str], int]

# The condition on rows of the ledger, with the parameters of a `Sender`.
_SENDER = "client = %(client)s AND (%(data_store)s::bigint IS NULL OR data_store = %(data_store)s)"
_ROWS_AT_ONCE = 1_000
_SENT = f"direction = 'received' AND {_SENDER}"
# A client has a limited number of open entries (REFUSALS_PER_CLIENT), which are read once.
_CAUSES = f"""
SELECT cause, min(problem), min(cause_text), min(awaited_resource), sum(entries)::bigint AS entries,
       sum(occurrences)::bigint, min(first_at), max(last_at), bool_and(cause_gone),
       jsonb_object_agg(resource, entries)::text
  FROM (
    SELECT cause, resource, min(problem) AS problem, min(cause_text) AS cause_text,
           min(awaited_resource) AS awaited_resource, count(*) AS entries, sum(count) AS occurrences,
           min(first_at) AS first_at, max(last_at) AS last_at, bool_and(cause_gone) AS cause_gone
      FROM refusal WHERE {_SENT} AND resolved_at IS NULL GROUP BY cause, resource
  ) AS by_resource
  LEFT JOIN unnest(%(loaded)s::text[]) WITH ORDINALITY AS places (path, place) ON path = resource
 GROUP BY cause ORDER BY entries DESC, min(place), cause LIMIT %(size)s OFFSET %(offset)s
"""
_COUNT = f"SELECT count(DISTINCT cause) FROM refusal WHERE {_SENT} AND resolved_at IS NULL"
_OPEN = f"""
SELECT resource, problem, sum(entries)::bigint FROM open_refusals
 WHERE {_SENT} AND entries > 0 GROUP BY resource, problem
"""
_RESOLVED = f"""
SELECT resource, count(*) FROM refusal WHERE {_SENT} AND resolved_at > %(day)s GROUP BY resource
"""
_ACTIVITY = f"""
SELECT resource, coalesce(sum(accepted) FILTER (WHERE hour > %(day)s), 0)::bigint,
       coalesce(sum(refused) FILTER (WHERE hour > %(day)s), 0)::bigint,
       sum(accepted)::bigint, sum(refused)::bigint, max(last_accepted_at), max(last_refused_at)
  FROM submission_hour WHERE {_SENDER} AND hour > %(week)s GROUP BY resource
"""


@dataclass(frozen=True, slots=True)
class Sender:
    """A client, by the id of its row, as far as it wrote to a data store; to any if that is None."""

    client: int
    data_store: int | None

    @property
    def parameters(self) -> dict[str, Any]:
        return {"client": self.client, "data_store": self.data_store}


class SubmissionsView(EdFiView):
    """The ledger is in the admin database. An address with a context has the entries of its data store, one without
    those of all data stores of the client."""

    detail = None
    sender: Sender
    # Paths of resources with their places in the load order. DRF's `as_view` accepts only attributes of the class.
    places: Mapping[str, int] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not api_settings.WRITE_RECORDER:
            raise ResourceNotFound

    def choose_database(self, request: Any) -> None:
        """Choose none: entries can be read while the database of the data store is away."""
        self.sender = Sender(request.user.row_id, data_store_in_address(request.user, request))

    def refusals(self) -> "QuerySet[Refusal]":
        """The client's own; not what other servers have refused of a connection that has the same client."""
        own = Refusal.objects.filter(client=self.sender.client, direction=RECEIVED)
        return of_data_store(own, self.sender.data_store)

    def place_of(self, path: str) -> int:
        """The place of a resource in the load order; unknown ones are last."""
        return self.places.get(path, len(self.places))


class RefusalsView(SubmissionsView):
    """Entries by `sequence`, so that a client can read on from the last one that it has seen."""

    def get(self, request: EdFiRequest) -> HttpResponseBase:
        found = self.refusals().filter(entries.selected(request)).order_by("sequence")
        page = self.paginator.read_offset(request)
        if not prefers_csv(request._request):
            shown = listed(found, page)
            return _json([entries.members(entry) for entry in shown.rows], shown.headers)
        audit.log_change("refusals exported", client=request.user.key)
        exported = listed(found, page) if _has_limit(request) else Listed(_all(found), total_of(found, page))
        rows = (row for entry in exported.rows for row in entries.rows(entry))
        return _csv(entries.CSV_COLUMNS, rows, exported.headers)


class RefusalView(SubmissionsView):
    """One entry; those of other clients do not exist."""

    def get(self, request: EdFiRequest, refusal_id: str) -> HttpResponseBase:
        return _json(entries.members(self._entry(refusal_id)))

    def delete(self, request: EdFiRequest, refusal_id: str) -> HttpResponseBase:
        """Close it; it appears again if it occurs again."""
        entry = self._entry(refusal_id)
        ledger = Ledger(ledger_connection())
        with ledger.changes():
            ledger.dismiss(entry.client, entry.id)
        return EmptyResponse(status=HTTP_204_NO_CONTENT)

    def _entry(self, refusal_id: str) -> Refusal:
        id_ = as_uuid(refusal_id)
        entry = self.refusals().filter(id=id_).first() if id_ else None
        if entry is None:
            raise ResourceNotFound
        return entry


class CausesView(SubmissionsView):
    """Open causes."""

    def get(self, request: EdFiRequest) -> HttpResponseBase:
        entries.refuse_all_but_paging(request.query_params)
        page = self.paginator.read_offset(request)
        is_csv = prefers_csv(request._request)
        size = None if is_csv and not _has_limit(request) else page.size
        total = count_causes(self.sender) if page.wants_total else None
        found = Listed(causes(self.sender, list(self.places), size, page.offset), total)
        if not is_csv:
            return _json(list(found.rows), found.headers)
        audit.log_change("causes of refusals exported", client=request.user.key)
        return _csv(CAUSE_COLUMNS, map(cause_row, found.rows), found.headers)


class SummaryView(SubmissionsView):
    """Open entries and activity by resource."""

    def get(self, request: EdFiRequest) -> HttpResponseBase:
        for name in request.query_params:
            raise UnknownQueryField(name)
        return _json(summary(self.sender, self.place_of))


class SubmissionsPageView(OpenPageView):
    """The page on which people see the entries of a client, for which they have key and secret."""

    def get(self, request: EdFiRequest, **kwargs: str) -> HttpResponseBase:
        if not api_settings.WRITE_RECORDER:
            raise ResourceNotFound
        context = {"root": root_of(request._request), "kinds": _kinds()}
        return html_page(request._request, "edfi_api/submissions.html", context)


def _kinds() -> dict[str, tuple[str, str, str]]:
    """Return the names of the resources, and what one document and several are called, by their paths."""
    return {
        each.url_path: (each.name.resource, *kind_in_words(each.name.resource)) for each in current_surface().resources
    }


def _has_limit(request: EdFiRequest) -> bool:
    """Return whether a file is to have one page. Without a limit it has everything."""
    return "limit" in {name.lower() for name in request.query_params}


def _json(value: Any, headers: dict[str, str] | None = None) -> HttpResponseBase:
    return JsonTextResponse(orjson.dumps(value), headers or {})


def _csv(columns: Iterable[str], rows: Iterable[Iterable[Any]], headers: dict[str, str]) -> HttpResponseBase:
    return json_file_response(csv_file(columns, rows), headers | {"Content-Type": CONTENT_TYPE})


def _all(found: "QuerySet[Refusal]") -> Iterator[Refusal]:
    """Yield all refusals in bounded memory."""
    last = -1
    while True:
        chunk = list(found.filter(sequence__gt=last)[:_ROWS_AT_ONCE])
        yield from chunk
        if len(chunk) < _ROWS_AT_ONCE:
            return
        last = chunk[-1].sequence


CAUSE_COLUMNS = (
    "id",
    "problem",
    "text",
    "target",
    "resources",
    "entries",
    "occurrences",
    "firstAt",
    "lastAt",
    "causeGone",
)


def causes(sender: Sender, loaded: Sequence[str], size: int | None, offset: int) -> Iterator[dict[str, Any]]:
    """Yield the causes with most entries first, then in load order, with unknown resources last. `loaded` has the paths
    of resources in this order. With None in place of a size all causes, in bounded memory.
    """
    facts = {"loaded": list(loaded), "size": size, "offset": offset}
    # In a transaction, because a cursor that outlives one cannot be used behind a pooler of transactions.
    with atomic(DEFAULT_DB_ALIAS), ledger_connection().chunked_cursor() as cursor:
        cursor.execute(_CAUSES, sender.parameters | facts)
        for row_ in cursor:
            yield _members(*row_)


def count_causes(sender: Sender) -> int:
    with ledger_connection().cursor() as cursor:
        cursor.execute(_COUNT, sender.parameters)
        return int(cursor.fetchone()[0])


def cause_row(cause: dict[str, Any]) -> list[Any]:
    """The values of `CAUSE_COLUMNS`."""
    resources = ", ".join(f"{path}: {number}" for path, number in cause["resources"].items())
    return [(cause | {"resources": resources}).get(name) for name in CAUSE_COLUMNS]


def summary(sender: Sender, place_of: PlaceOf) -> list[dict[str, Any]]:
    """An object for each resource with anything to say, in load order. Writes to unknown resources have none."""
    now = timezone.now()
    facts = {**sender.parameters, "day": now - timedelta(days=1), "week": now - timedelta(days=7)}
    found: dict[str, dict[str, Any]] = {}

    def of(resource: str) -> dict[str, Any]:
        nothing = {"resource": resource, "open": 0, "byProblem": {}, "resolvedLast24Hours": 0, "activity": {}}
        return found.setdefault(resource, nothing)

    with ledger_connection().cursor() as cursor:
        for resource, problem, entries in cursor.execute(_OPEN, facts):
            of(resource)["open"] += entries
            of(resource)["byProblem"][problem] = entries
        for resource, entries in cursor.execute(_RESOLVED, facts):
            of(resource)["resolvedLast24Hours"] = entries
        for resource, *numbers in cursor.execute(_ACTIVITY, facts):
            of(resource)["activity"] = _activity(*numbers)
    return sorted((each for path, each in found.items() if path), key=lambda each: place_of(each["resource"]))


def _members(id_: Any, problem: str, text: str, target: str, entries: int, *rest: Any) -> dict[str, Any]:
    occurrences, first_at, last_at, is_gone, resources = rest
    return {
        "id": f"{CAUSE_PREFIX}{id_.hex}",
        "problem": problem,
        "text": text,
        **({"target": target} if target else {}),
        "resources": orjson.loads(resources),
        "entries": entries,
        "occurrences": occurrences,
        "firstAt": as_text(first_at),
        "lastAt": as_text(last_at),
        "causeGone": is_gone,
    }


def _activity(*numbers: Any) -> dict[str, Any]:
    *counts, last_accepted, last_refused = numbers
    names = ("acceptedLast24Hours", "refusedLast24Hours", "acceptedLast7Days", "refusedLast7Days")
    timestamps = {"lastAcceptedAt": last_accepted, "lastRefusedAt": last_refused}
    return dict(zip(names, counts, strict=True)) | {
        name: as_text(timestamp) for name, timestamp in timestamps.items() if timestamp is not None
    }
