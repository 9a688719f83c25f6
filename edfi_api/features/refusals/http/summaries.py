"""What a client has sent: its open causes, each of which is resolved by one correction, and its entries and writes by
resource."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
from django.db import DEFAULT_DB_ALIAS
from django.db.transaction import atomic
from django.utils import timezone

from edfi_api.features.refusals.http.entries import CAUSE_PREFIX, as_text
from edfi_api.features.refusals.ledger import ledger_connection

# The place of a resource in the load order, by its path.
PlaceOf = Callable[[str], int]

# The condition on rows of the ledger, with the parameters of a `Sender`.
_SENDER = "client = %(client)s AND (%(data_store)s::bigint IS NULL OR data_store = %(data_store)s)"
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


@dataclass(frozen=True, slots=True)
class Sender:
    """A client, by the id of its row, as far as it wrote to a data store; to any if that is None."""

    client: int
    data_store: int | None

    @property
    def parameters(self) -> dict[str, Any]:
        return {"client": self.client, "data_store": self.data_store}


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
