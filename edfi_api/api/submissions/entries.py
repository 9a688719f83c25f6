"""Entries of the ledger as JSON members and as CSV rows."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from edfi_api.api.submissions.parameters import CAUSE_PREFIX
from edfi_api.listing.pages import without_nulls
from edfi_api.refusals.models import Refusal
from edfi_api.refusals.personal_data import is_hashed

_URN = "urn:ed-fi:api:"

CSV_COLUMNS = (
    "id",
    "resource",
    "naturalKey",
    "documentId",
    "operation",
    "educationOrganizationId",
    "status",
    "type",
    "title",
    "path",
    "message",
    "cause",
    "causeGone",
    "correlationId",
    "firstAt",
    "lastAt",
    "count",
    "state",
    "resolution",
    "sequence",
)


def members(entry: Refusal) -> dict[str, Any]:
    """The JSON object of an entry; what is not known is absent."""
    optional = {
        "naturalKey": None if is_hashed() else entry.natural_key,
        "documentId": None if is_hashed() else entry.document_uuid,
        "educationOrganizationId": None if is_hashed() else entry.organization,
        "isSummary": entry.is_summary or None,
        "isBatch": entry.is_batch or None,
        "resolution": entry.resolution,
        "resolvedAt": entry.resolved_at and as_text(entry.resolved_at),
    }
    return {
        "id": entry.id,
        "resource": entry.resource,
        "operation": entry.operation,
        **without_nulls(optional),
        "status": entry.status,
        "type": _URN + entry.problem,
        "title": entry.title,
        "validationErrors": entry.paths,
        "errors": entry.errors,
        "cause": {
            "id": f"{CAUSE_PREFIX}{entry.cause.hex}",
            "text": entry.cause_text,
            "causeGone": entry.cause_gone,
        },
        "correlationId": entry.correlation_id,
        "firstAt": as_text(entry.first_at),
        "lastAt": as_text(entry.last_at),
        "count": entry.count,
        "state": entry.state,
        "sequence": entry.sequence,
    }


def rows(entry: Refusal) -> Iterator[list[Any]]:
    """One row for each message."""
    found = members(entry)
    messages = [(path, text) for path, texts in entry.paths.items() for text in texts]
    for path, message in messages or [("", error) for error in entry.errors] or [("", "")]:
        values = found | {"path": path, "message": message}
        values |= {"cause": entry.cause_text, "causeGone": entry.cause_gone}
        yield [values.get(name) for name in CSV_COLUMNS]


def as_text(moment: datetime) -> str:
    """2026-11-22T02:10:09Z"""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
