"""The errors of the management API, with the texts of Ed-Fi's Configuration Service, which clients match on; and
exception → answer in the form of version 3, or of version 2 of the addresses.

Their types differ from those of the data API (`problem_details.catalog`), and no member is ever left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError
from django.db.models import ProtectedError
from psycopg import errors as postgres
from rest_framework.response import Response

from edfi_api.common.memory import MemoryExhausted
from edfi_api.common.request_body import UnsupportedCharset, UnsupportedCoding
from edfi_api.core.security.exceptions import IdentityProviderAway, TooManyRequests
from edfi_api.core.storage.driver.execution import is_outage
from edfi_api.features.management_api import texts
from edfi_api.web.problem_details.catalog import problem_of
from edfi_api.web.problem_details.problem import MEDIA_TYPE, Problem

_CONTENDED = (postgres.LockNotAvailable, postgres.DeadlockDetected, postgres.SerializationFailure)


class RequestRefused(Exception):
    """A request is refused with this problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def refused(name: str, detail: str | None = None, **more: Any) -> RequestRefused:
    """A refusal of the table, with this detail in place of its own."""
    status, type_, title, usual = texts.PROBLEMS[name]
    return RequestRefused(
        Problem(status=status, type=type_, title=title, detail=usual if detail is None else detail, **more)
    )


def invalid_data(errors: Mapping[str, Sequence[str]]) -> RequestRefused:
    """Members of the body break rules; texts by name of the member."""
    return refused("data", validation_errors={name: list(found) for name, found in errors.items()})


def invalid_json() -> RequestRefused:
    """The body cannot be read as what it should be."""
    return invalid_data({"$": [texts.INVALID_JSON]})


def unreadable_body(reason: str) -> RequestRefused:
    """The bytes of the body are not the text that its headers declare."""
    return invalid_data({"$": [texts.UNREADABLE_BODY.format(reason=reason)]})


def invalid_parameters(errors: Sequence[str]) -> RequestRefused:
    """Parameters in the query string break rules."""
    return refused("parameters", errors=list(errors))


def unreadable_parameter() -> RequestRefused:
    """An id or a filter is no number."""
    return invalid_parameters([texts.UNREADABLE_PARAMETER])


def bad_request(detail: str | None = None, errors: Sequence[str] = ()) -> RequestRefused:
    return refused("request", detail, errors=list(errors))


def unauthenticated(*errors: str, audit_reason: str = "") -> RequestRefused:
    headers = {"WWW-Authenticate": "Bearer"}
    detail = texts.SEE_ERRORS if errors else None
    return refused("authentication", detail, errors=list(errors), headers=headers, audit_reason=audit_reason)


def forbidden(*errors: str) -> RequestRefused:
    return refused("authorization", texts.SEE_ERRORS if errors else None, errors=list(errors))


def not_found(detail: str | None = None) -> RequestRefused:
    return refused("not found", detail)


def unresolved_reference(detail: str) -> RequestRefused:
    return refused("reference", detail)


def problem_for(error: Exception) -> Problem | None:
    """The problem to answer with; None for a bug."""
    if isinstance(error, RequestRefused):
        return error.problem
    if isinstance(error, IntegrityError | ProtectedError) or isinstance(error.__cause__, _CONTENDED):
        return refused("conflict").problem
    if isinstance(error, UnsupportedCoding | UnsupportedCharset | MemoryExhausted):
        return problem_of(error)
    if isinstance(error, IdentityProviderAway | TooManyRequests | OperationalError | InterfaceError) or (
        isinstance(error, DatabaseError) and is_outage(error)
    ):
        return problem_of(error)
    return None


def answer(problem: Problem, correlation_id: str, version: str) -> Response:
    """The answer in the form of this version."""
    response = Response(
        _version_2(problem, correlation_id) if version == "v2" else _version_3(problem, correlation_id),
        problem.status,
        headers=dict(problem.headers),
        content_type=MEDIA_TYPE,
    )
    response.problem_type = problem.urn  # type: ignore[attr-defined]  # for the request log
    return response


def _version_3(problem: Problem, correlation_id: str) -> dict[str, Any]:
    """Return the answer as Ed-Fi's Configuration Service has it: all members, always."""
    return {
        "detail": problem.detail,
        "type": problem.type if problem.type == "about:blank" else problem.urn,
        "title": problem.title,
        "status": problem.status,
        "correlationId": correlation_id,
        "validationErrors": problem.validation_errors or {},
        "errors": problem.errors,
    }


def _version_2(problem: Problem, correlation_id: str) -> dict[str, Any] | None:
    """Return a problem as Ed-Fi's Admin API 2 answers it; nothing to callers without access."""
    if problem.status in (401, 403):
        return None
    found = problem.validation_errors or {}
    if "$" in found:
        return {"message": texts.V2.MALFORMED_JSON}
    if problem.status == 400:
        return {"title": "Validation failed", "errors": found or {"Request": problem.errors or [problem.detail]}}
    return {"title": problem.detail or problem.title}
