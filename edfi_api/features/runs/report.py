"""The report of a run: all that a client has done between two pauses, or between two times; as JSON and as text."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Max, Min, QuerySet

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import printable
from edfi_api.core.security.models import ApiClient
from edfi_api.core.served import current_surface
from edfi_api.features.runs.counts import Counts, Reads, Refused
from edfi_api.features.runs.models import RunMinute
from edfi_api.version import VERSION

# A run ends before a longer pause.
PAUSE = timedelta(minutes=30)
_MOST_RUNS = 100
# The kinds of requests, and whether documents or requests make their rate.
_KINDS = ("write", "read", "batch", "other")
_SHARES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
_DONE = ("created", "changed", "unchanged", "deleted")
_RUNS = """
SELECT min(first_at), max(last_at) FROM (
    SELECT first_at, last_at, count(*) FILTER (WHERE is_first) OVER (ORDER BY first_at, last_at) AS run FROM (
        SELECT first_at, last_at, coalesce(first_at - max(last_at) OVER (
                   ORDER BY first_at, last_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) > %(pause)s, true
               ) AS is_first
          FROM run_minute
         WHERE client = %(client)s AND (%(data_store)s::bigint IS NULL OR data_store = %(data_store)s)
    ) AS marked
) AS numbered GROUP BY run ORDER BY 1 DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Run:
    """The times of the first and the last request."""

    first_at: datetime
    last_at: datetime

    @property
    def members(self) -> dict[str, Any]:
        return {"firstRequestAt": as_text(self.first_at), "lastRequestAt": as_text(self.last_at)}


def runs_of(client: str, data_store: int | None = None) -> list[Run]:
    """The runs of a client, by its key; the last one is the first."""
    given: dict[str, Any] = {"client": client, "data_store": data_store, "pause": PAUSE, "most": _MOST_RUNS}
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_RUNS, given)
        return [Run(*row) for row in cursor]


def report_of(
    client: ApiClient, *, since: datetime | None = None, until: datetime | None = None, data_store: int | None = None
) -> dict[str, Any]:
    """The report of the minutes between two times, as JSON; of the last run without them."""
    rows = RunMinute.objects.filter(client=client.client_id)
    if data_store is not None:
        rows = rows.filter(data_store=data_store)
    if since is None and until is None:
        since = next((run.first_at for run in runs_of(client.client_id, data_store)), None)
    if since is not None:
        rows = rows.filter(last_at__gte=since)
    if until is not None:
        rows = rows.filter(first_at__lte=until)
    run, counts = _run(rows), Counts.total(Counts.of_json(each) for each in _stored(rows))
    seconds = (run.last_at - run.first_at).total_seconds() if run else 0.0
    return {
        "client": client.client_id,
        "name": client.name,
        **(run.members if run else {"firstRequestAt": None, "lastRequestAt": None}),
        "seconds": round(seconds, 1),
        "requests": [_requests(counts, kind, seconds) for kind in _KINDS if _number(counts, kind)],
        "statuses": dict(sorted(_statuses(counts).items())),
        "writes": list(_writes(counts)),
        "refusals": [_refusal(*each) for each in counts.refused.most_common()],
        "reads": [_reads(*key, reads) for key, reads in sorted(counts.reads.items())],
        "exercised": list(_exercised(counts)),
        "environment": _environment(client),
    }


def as_text(timestamp: datetime) -> str:
    """2026-11-22T02:10:09.5Z"""
    return timestamp.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _run(rows: "QuerySet[RunMinute]") -> Run | None:
    found = rows.aggregate(first_at=Min("first_at"), last_at=Max("last_at"))
    return None if found["first_at"] is None else Run(found["first_at"], found["last_at"])


def _stored(rows: "QuerySet[RunMinute]") -> Iterable[dict[str, Any]]:
    return rows.values_list("counts", flat=True).iterator()


def _number(counts: Counts, kind: str) -> int:
    return sum(number for (each, _), number in counts.requests.items() if each == kind)


def _requests(counts: Counts, kind: str, seconds: float) -> dict[str, Any]:
    number = _number(counts, kind)
    times = {name: counts.percentile(kind, share) for name, share in _SHARES.items()}
    return {
        "kind": kind,
        "requests": number,
        "perSecond": round(number / max(seconds, 1), 2),
        "milliseconds": {name: round(time * 1000, 1) for name, time in times.items() if time is not None},
    }


def _statuses(counts: Counts) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for (_, status), number in counts.requests.items():
        found[str(status)] += number
    return found


def _writes(counts: Counts) -> Iterator[dict[str, Any]]:
    """Yield what was written, by resource: by single requests, and by operations of batches."""
    refused: dict[str, int] = defaultdict(int)
    for each, number in counts.refused.items():
        if each.operation != "read":
            refused[each.resource] += number
    for resource in sorted({resource for resource, _ in counts.writes} | refused.keys()):
        done = {name: counts.writes[resource, name] for name in _DONE}
        yield {"resource": resource, **done, "refused": refused[resource]}


def _refusal(refused: Refused, number: int) -> dict[str, Any]:
    return {
        "resource": refused.resource,
        "operation": refused.operation,
        "status": refused.status,
        "type": f"urn:ed-fi:api:{refused.problem}" if refused.problem else None,
        "cause": refused.cause,
        "number": number,
    }


def _reads(resource: str, what: str, reads: Reads) -> dict[str, Any]:
    return {
        "resource": resource,
        "what": what,
        "requests": reads.requests,
        "documents": reads.documents,
        "bytes": reads.bytes,
        "pages": reads.pages,
        "fromChangeVersion": reads.from_version,
        "toChangeVersion": reads.to_version,
    }


def _exercised(counts: Counts) -> Iterator[dict[str, Any]]:
    """Yield which of the things that can be done with a resource have succeeded."""
    read = {resource for (resource, _), reads in counts.reads.items() if reads.requests}
    for resource in sorted({resource for resource, _ in counts.writes} | read):
        done = {name: bool(counts.writes[resource, name]) for name in ("created", "changed", "deleted")}
        yield {"resource": resource, **done, "read": resource in read}


def _environment(client: ApiClient) -> dict[str, Any]:
    """Return what the server is, now, and what the client may do."""
    projects, application = current_surface().projects, client.application
    return {
        "meadowlark": VERSION,
        "dataStandard": " ".join(f"{each.name} {each.version}" for each in projects if not each.is_extension),
        "extensions": [f"{each.name} {each.version}" for each in projects if each.is_extension],
        "claimSet": application.claim_set_shown,
        "educationOrganizationIds": application.education_organization_ids,
        "profiles": sorted(each.name for each in application.profiles.all()),
        "compatibility": api_settings.COMPATIBILITY,
        "limits": {
            "bodyBytes": api_settings.MAX_BODY_BYTES,
            "pageSize": api_settings.MAX_PAGE_SIZE,
            "batchOperations": api_settings.BATCH_OPERATIONS if api_settings.BATCH else 0,
            "tokensPerMinute": api_settings.TOKENS_PER_MINUTE,
        },
    }


def report_text(report: dict[str, Any]) -> str:
    """Return the report as plain text, for terminals and mails, with a table for each part that is not empty."""
    return "\n".join(_lines(report))


def _lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"Run of {printable(report['name'])} ({report['client']})"
    if report["firstRequestAt"] is None:
        yield "No request has been counted."
        return
    yield f"from {report['firstRequestAt']} to {report['lastRequestAt']}, {report['seconds']} seconds"
    times = [
        [each["kind"], each["requests"], each["perSecond"], *(each["milliseconds"].get(name, "") for name in _SHARES)]
        for each in report["requests"]
    ]
    yield from _table("Requests", ["kind", "requests", "per second", "p50 ms", "p95 ms", "p99 ms"], times)
    for title, rows in (
        ("Writes", report["writes"]),
        ("Refused", [_without(each, "type") for each in report["refusals"]]),
        ("Reads", report["reads"]),
        ("Exercised", report["exercised"]),
    ):
        if rows:
            yield from _table(title, [_in_words(name) for name in rows[0]], [list(row.values()) for row in rows])
    yield ""
    yield "Environment"
    for name, value in report["environment"].items():
        shown = ", ".join(f"{_in_words(key)} {each}" for key, each in value.items()) if name == "limits" else value
        yield f"  {_in_words(name)}: {_shown(shown) or 'none'}"


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    texts = [list(heads), *([_shown(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(heads))]
    yield f"\n{title}"
    for row in texts:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "-"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else printable(value)


def _in_words(name: str) -> str:
    """`from change version` for `fromChangeVersion`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)


def _without(row: dict[str, Any], left_out: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != left_out}
