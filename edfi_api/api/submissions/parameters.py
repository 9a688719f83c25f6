"""Query string → filters of entries. All unusable values are reported together."""

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import Q
from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive

from edfi_api.queries.exceptions import ParameterValidationFailed, UnknownQueryField
from edfi_api.queries.parameters import is_natural_number
from references.identity import as_uuid

CAUSE_PREFIX = "c-"
# Read by the pagination.
_PAGING = frozenset({"offset", "limit", "totalcount"})
_ORGANIZATION = "educationorganizationid"
_LARGEST = 2**63 - 1
_STATES: Mapping[str, Q] = {"open": Q(resolved_at=None), "resolved": Q(resolved_at__isnull=False), "all": Q()}


class _Unusable(Exception):
    """The value of a parameter; the message is for the client."""


def read(query: QueryDict, within: Callable[[int], Q]) -> Q:
    """The filters. Names are case-insensitive, and the last value of a repeated parameter counts. `within` returns the
    condition that an entry is of an organization or one below it.

    Raises UnknownQueryField and ParameterValidationFailed.
    """
    filters = _FILTERS | {_ORGANIZATION: lambda value: within(_organization(value))}
    given = {name.lower(): (name, values[-1]) for name, values in query.lists()}
    conditions, problems = Q(), []
    if "state" not in given:
        conditions &= _STATES["open"]
    for lowered, (name, value) in given.items():
        if lowered in _PAGING:
            continue
        if lowered not in filters:
            raise UnknownQueryField(name)
        try:
            conditions &= filters[lowered](value)
        except _Unusable as problem:
            problems.append(str(problem))
    if problems:
        raise ParameterValidationFailed(problems)
    return conditions


def refuse_all_but_paging(query: QueryDict) -> None:
    """Raises UnknownQueryField for any other parameter."""
    for name in query:
        if name.lower() not in _PAGING:
            raise UnknownQueryField(name)


def _equal(column: str) -> Callable[[str], Q]:
    return lambda value: Q(**{column: _text(value)})


def _resource(value: str) -> Q:
    return Q(resource__iexact=f"/{_text(value).strip('/')}")


def _text(value: str) -> str:
    if "\0" in value:
        raise _Unusable("A value has a NUL in it.")
    return value


def _number(name: str, column: str) -> Callable[[str], Q]:
    return lambda value: Q(**{column: _natural_number(name, value)})


def _organization(value: str) -> int:
    return _natural_number("EducationOrganizationId", value)


def _natural_number(name: str, value: str) -> int:
    if not is_natural_number(value, _LARGEST):
        raise _Unusable(f"{name} must be a number.")
    return int(value)


def _id(name: str, column: str, prefix: str = "") -> Callable[[str], Q]:
    def condition(value: str) -> Q:
        found = as_uuid(value.removeprefix(prefix))
        if found is None:
            raise _Unusable(f"{name} must be an id.")
        return Q(**{column: found})

    return condition


def _since(value: str) -> Q:
    try:
        moment = parse_datetime(value.replace(" ", "+"))
    except ValueError:
        moment = None
    if moment is None or is_naive(moment):
        raise _Unusable("Since must be a time such as 2026-11-22T02:10:09Z.")
    return Q(last_at__gte=moment)


def _state(value: str) -> Q:
    if value.lower() not in _STATES:
        raise _Unusable(f"State must be one of: {', '.join(_STATES)}.")
    return _STATES[value.lower()]


_FILTERS: dict[str, Callable[[str], Any]] = {
    "resource": _resource,
    "problem": _equal("problem"),
    "status": _number("Status", "status"),
    "naturalkey": _equal("natural_key"),
    "documentid": _id("DocumentId", "document_uuid"),
    "cause": _id("Cause", "cause", CAUSE_PREFIX),
    "state": _state,
    "since": _since,
    "minsequence": _number("MinSequence", "sequence__gte"),
}
