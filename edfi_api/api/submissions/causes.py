"""Open causes of a client: entries that are resolved by one correction."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from django.db import DEFAULT_DB_ALIAS
from django.db.transaction import atomic

from edfi_api.api.submissions.entries import as_text
from edfi_api.api.submissions.parameters import CAUSE_PREFIX
from edfi_api.api.submissions.sender import SENT, Sender
from edfi_api.refusals.ledger import ledger_connection

# A client has a limited number of open entries (REFUSALS_PER_CLIENT), which are read once.
_CAUSES = f"""
SELECT cause, min(problem), min(cause_text), min(awaited_resource), sum(entries)::bigint AS entries,
       sum(occurrences)::bigint, min(first_at), max(last_at), bool_and(cause_gone),
       jsonb_object_agg(resource, entries)::text
  FROM (
    SELECT cause, resource, min(problem) AS problem, min(cause_text) AS cause_text,
           min(awaited_resource) AS awaited_resource, count(*) AS entries, sum(count) AS occurrences,
           min(first_at) AS first_at, max(last_at) AS last_at, bool_and(cause_gone) AS cause_gone
      FROM refusal WHERE {SENT} AND resolved_at IS NULL GROUP BY cause, resource
  ) AS by_resource
  LEFT JOIN unnest(%(loaded)s::text[]) WITH ORDINALITY AS places (path, place) ON path = resource
 GROUP BY cause ORDER BY entries DESC, min(place), cause LIMIT %(size)s OFFSET %(offset)s
"""
_COUNT = f"SELECT count(DISTINCT cause) FROM refusal WHERE {SENT} AND resolved_at IS NULL"

CSV_COLUMNS = (
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
    """Those with most entries first, then in loading order, with unknown resources last. `loaded` has the paths of
    resources in this order. With None in place of a size all causes, in bounded memory."""
    facts = {"loaded": list(loaded), "size": size, "offset": offset}
    # In a transaction, because a cursor that outlives one cannot be used behind a pooler of transactions.
    with atomic(DEFAULT_DB_ALIAS), ledger_connection().chunked_cursor() as cursor:
        cursor.execute(_CAUSES, sender.parameters | facts)
        for row_ in cursor:
            yield _members(*row_)


def count(sender: Sender) -> int:
    with ledger_connection().cursor() as cursor:
        cursor.execute(_COUNT, sender.parameters)
        return int(cursor.fetchone()[0])


def row(cause: dict[str, Any]) -> list[Any]:
    """The values of `CSV_COLUMNS`."""
    resources = ", ".join(f"{path}: {number}" for path, number in cause["resources"].items())
    return [(cause | {"resources": resources}).get(name) for name in CSV_COLUMNS]


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
