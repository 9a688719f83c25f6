"""Entries of the ledger: query string → filters of them, and their form as JSON members and as CSV rows."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import connections
from django.db.models import Q
from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive

from edfi_api.core.queries.listing import (
    TEXT,
    Field,
    FieldFilter,
    FieldType,
    natural_number,
    one_of,
    read_filters,
    without_nulls,
)
from edfi_api.core.security.requests.data_stores import leases_of
from edfi_api.features.refusals.models import Refusal
from edfi_api.features.refusals.personal_data import is_hashed
from edfi_api.web.viewsets.edfi_view import EdFiRequest
from references.identity import as_uuid

CAUSE_PREFIX = "c-"
_URN = "urn:ed-fi:api:"
# Read by the pagination.
_PAGING = frozenset({"offset", "limit", "totalcount"})
_STATES: Mapping[str, Q] = {"open": Q(resolved_at=None), "resolved": Q(resolved_at__isnull=False), "all": Q()}
_BELOW = "SELECT descendant_id FROM organization_closure WHERE ancestor_id = %s"


def _resource(text: str) -> str:
    return f"/{TEXT.read(text).strip('/')}"


def _id(prefix: str = "") -> FieldType:
    def read(text: str) -> object:
        found = as_uuid(text.removeprefix(prefix))
        if found is None:
            raise ValueError(text)
        return found

    return FieldType(read, "{name} must be an id.")


def _parse_since(text: str) -> datetime:
    timestamp = parse_datetime(text.replace(" ", "+"))
    if timestamp is None or is_naive(timestamp):
        raise ValueError(text)
    return timestamp


_NUMBER = natural_number(2**63 - 1)
_STATE = Field("state", "", one_of(_STATES))
_ORGANIZATION = Field("educationOrganizationId", "", _NUMBER)
_FIELDS = (
    Field("resource", "resource__iexact", FieldType(_resource, TEXT.problem)),
    Field("problem", "problem", TEXT),
    Field("status", "status", _NUMBER),
    Field("naturalKey", "natural_key", TEXT),
    Field("documentId", "document_uuid", _id()),
    Field("cause", "cause", _id(CAUSE_PREFIX)),
    _STATE,
    Field("since", "last_at__gte", FieldType(_parse_since, "Since must be a time such as 2026-11-22T02:10:09Z.")),
    Field("minSequence", "sequence__gte", _NUMBER),
    _ORGANIZATION,
)

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


def selected(request: EdFiRequest) -> Q:
    """The entries that a request selects: open ones, unless it names a state.

    Raises UnknownQueryField, ParameterValidationFailed, and what `data_stores` raises if a database cannot be used.
    """
    filters = read_filters(_FIELDS, request.query_params, _PAGING).or_failed_validation()
    conditions = Q() if any(each.field is _STATE for each in filters) else _STATES["open"]
    for each in filters:
        conditions &= _condition(each, request)
    return conditions


def refuse_all_but_paging(query: QueryDict) -> None:
    """Raises UnknownQueryField for any other parameter."""
    read_filters((), query, _PAGING)


def members(entry: Refusal) -> dict[str, Any]:
    """The JSON object of an entry; what is not known is absent."""
    optional = {
        "naturalKey": None if is_hashed() else entry.natural_key,
        "documentId": None if is_hashed() else entry.document_uuid,
        "educationOrganizationId": None if is_hashed() else entry.organization,
        "isSummary": entry.is_summary or None,
        "isBatch": entry.is_batch or None,
        "rules": entry.rules or None,
        "hints": (not is_hashed() and entry.hints) or None,
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


def as_text(timestamp: datetime) -> str:
    """2026-11-22T02:10:09Z"""
    return timestamp.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _condition(filter_: FieldFilter, request: EdFiRequest) -> Q:
    if filter_.field is _STATE:
        return _STATES[filter_.value]
    if filter_.field is _ORGANIZATION:
        return _within(filter_.value, request)
    return Q(**{filter_.field.source: filter_.value})


def _within(organization: int, request: EdFiRequest) -> Q:
    """Entries of an organization and those below it, by the hierarchy of the data store that was written to."""
    conditions = Q(organization=organization)
    for data_store, lease in leases_of(request.user, request):
        with lease, connections[lease.using].cursor() as cursor:
            cursor.execute(_BELOW, [organization])
            below = [id_ for (id_,) in cursor]
        conditions |= Q(data_store=data_store, organization__in=below)
    return conditions
