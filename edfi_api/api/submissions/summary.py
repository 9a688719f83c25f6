"""What a client has sent: open entries by resource and problem, and accepted and refused writes."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from edfi_api.api.submissions.entries import as_text
from edfi_api.api.submissions.sender import SENT, Sender
from edfi_api.refusals.ledger import ledger_connection

# The place of a resource in the loading order, by its path.
PlaceOf = Callable[[str], int]

_OPEN = f"""
SELECT resource, problem, sum(entries)::bigint FROM open_refusals
 WHERE {SENT} AND entries > 0 GROUP BY resource, problem
"""
_RESOLVED = f"""
SELECT resource, count(*) FROM refusal WHERE {SENT} AND resolved_at > %(day)s GROUP BY resource
"""
_ACTIVITY = f"""
SELECT resource, coalesce(sum(accepted) FILTER (WHERE hour > %(day)s), 0)::bigint,
       coalesce(sum(refused) FILTER (WHERE hour > %(day)s), 0)::bigint,
       sum(accepted)::bigint, sum(refused)::bigint, max(last_accepted_at), max(last_refused_at)
  FROM submission_hour WHERE {SENT} AND hour > %(week)s GROUP BY resource
"""


def summary(sender: Sender, place_of: PlaceOf) -> list[dict[str, Any]]:
    """An object for each resource with anything to say, in loading order. Writes to unknown resources have none."""
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


def _activity(*numbers: Any) -> dict[str, Any]:
    *counts, last_accepted, last_refused = numbers
    names = ("acceptedLast24Hours", "refusedLast24Hours", "acceptedLast7Days", "refusedLast7Days")
    moments = {"lastAcceptedAt": last_accepted, "lastRefusedAt": last_refused}
    return dict(zip(names, counts, strict=True)) | {
        name: as_text(moment) for name, moment in moments.items() if moment is not None
    }
