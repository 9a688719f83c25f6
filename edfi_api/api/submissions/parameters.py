"""Query string → filters of entries. All unusable values are reported together."""

from collections.abc import Callable, Mapping
from datetime import datetime

from django.db.models import Q
from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive

from edfi_api.listing.fields import TEXT, Field, FieldType, natural_number, one_of
from edfi_api.listing.filters import FieldFilter, read_filters
from edfi_api.queries.exceptions import UnknownQueryField
from references.identity import as_uuid

CAUSE_PREFIX = "c-"
# Read by the pagination.
_PAGING = frozenset({"offset", "limit", "totalcount"})
_STATES: Mapping[str, Q] = {"open": Q(resolved_at=None), "resolved": Q(resolved_at__isnull=False), "all": Q()}


def _resource(text: str) -> str:
    return f"/{TEXT.read(text).strip('/')}"


def _id(prefix: str = "") -> FieldType:
    def read(text: str) -> object:
        found = as_uuid(text.removeprefix(prefix))
        if found is None:
            raise ValueError(text)
        return found

    return FieldType(read, "{name} must be an id.")


def _since(text: str) -> datetime:
    moment = parse_datetime(text.replace(" ", "+"))
    if moment is None or is_naive(moment):
        raise ValueError(text)
    return moment


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
    Field("since", "last_at__gte", FieldType(_since, "Since must be a time such as 2026-11-22T02:10:09Z.")),
    Field("minSequence", "sequence__gte", _NUMBER),
    _ORGANIZATION,
)


def read(query: QueryDict, within: Callable[[int], Q]) -> Q:
    """The filters: of open entries, unless a state is requested. `within` returns the condition that an entry is of an
    organization or one below it.

    Raises UnknownQueryField and ParameterValidationFailed.
    """
    filters = read_filters(_FIELDS, query, _PAGING).or_failed_validation()
    conditions = Q() if any(each.field is _STATE for each in filters) else _STATES["open"]
    for each in filters:
        conditions &= _condition(each, within)
    return conditions


def refuse_all_but_paging(query: QueryDict) -> None:
    """Raises UnknownQueryField for any other parameter."""
    for name in query:
        if name.lower() not in _PAGING:
            raise UnknownQueryField(name)


def _condition(filter_: FieldFilter, within: Callable[[int], Q]) -> Q:
    if filter_.field is _STATE:
        return _STATES[filter_.value]
    if filter_.field is _ORGANIZATION:
        return within(filter_.value)
    return Q(**{filter_.field.source: filter_.value})
