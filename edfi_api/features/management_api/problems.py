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
from edfi_api.core.storage.driver.exceptions import is_outage
from edfi_api.features.management_api import texts
from edfi_api.web.problem_details.catalog import problem_of
from edfi_api.web.problem_details.problem import MEDIA_TYPE, Problem

_CONTENDED = (postgres.LockNotAvailable, postgres.DeadlockDetected, postgres.SerializationFailure)
SEE_ERRORS = "The request could not be processed. See 'errors' for details."


class RequestRefused(Exception):
    """A request is refused with this problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def invalid_data(errors: Mapping[str, Sequence[str]]) -> RequestRefused:
    """Members of the body break rules; texts by name of the member."""
    return _refusal(
        400,
        "bad-request:data",
        "Data Validation Failed",
        "Data validation failed. See 'validationErrors' for details.",
        validation_errors={name: list(texts) for name, texts in errors.items()},
    )


def invalid_json() -> RequestRefused:
    """The body cannot be read as what it should be."""
    return invalid_data({"$": ["The request body contains invalid JSON."]})


def unreadable_body(reason: str) -> RequestRefused:
    """The bytes of the body are not the text that its headers declare."""
    return invalid_data({"$": [f"The request body cannot be read: {reason}"]})


def invalid_parameters(texts: Sequence[str]) -> RequestRefused:
    """Parameters in the query string break rules."""
    return _refusal(
        400,
        "bad-request:parameter",
        "Parameter Validation Failed",
        "Parameter validation failed. See 'errors' for details.",
        errors=list(texts),
    )


def unreadable_parameter() -> RequestRefused:
    """An id or a filter is no number."""
    return invalid_parameters([texts.UNREADABLE_PARAMETER])


def bad_request(detail: str = SEE_ERRORS, errors: Sequence[str] = ()) -> RequestRefused:
    return _refusal(400, "bad-request", "Bad Request", detail, errors=list(errors))


def unauthenticated(*errors: str, audit_reason: str = "") -> RequestRefused:
    detail = SEE_ERRORS if errors else "Authentication is required to access this resource."
    return _refusal(
        401,
        "security:authentication",
        "Authentication Failed",
        detail,
        errors=list(errors),
        headers={"WWW-Authenticate": "Bearer"},
        audit_reason=audit_reason,
    )


def forbidden(*errors: str) -> RequestRefused:
    detail = SEE_ERRORS if errors else "The authenticated client is not authorized to access this resource."
    return _refusal(403, "security:authorization", "Authorization Failed", detail, errors=list(errors))


def not_found(detail: str = "The requested resource could not be found.") -> RequestRefused:
    return _refusal(404, "not-found", "Not Found", detail)


def method_not_allowed(allowed: Sequence[str]) -> RequestRefused:
    return _refusal(
        405,
        "method-not-allowed",
        "Method Not Allowed",
        "The request construction was invalid.",
        headers={"Allow": ", ".join(allowed)},
    )


def conflict() -> RequestRefused:
    """A concurrent request got in the way."""
    return _refusal(
        409,
        "conflict",
        "Conflict",
        "Unable to process the request due to a concurrent modification. Retry the request.",
    )


def unresolved_reference(detail: str) -> RequestRefused:
    return _refusal(409, "conflict:unresolved-reference", "Unresolved Reference", detail)


def dependent_item(detail: str) -> RequestRefused:
    return _refusal(409, "conflict:dependent-item-exists", "Dependent Item Exists", detail)


def not_unique(*errors: str) -> RequestRefused:
    return _refusal(
        409,
        "conflict:non-unique-identity",
        "Identifying Values Are Not Unique",
        "The identifying value(s) of the item are the same as another item that already exists.",
        errors=list(errors),
    )


def too_large() -> RequestRefused:
    return _refusal(413, "about:blank", "Payload Too Large", "")


def unsupported_media_type() -> RequestRefused:
    return _refusal(
        415,
        "unsupported-media-type",
        "Unsupported Media Type",
        "The value specified in the 'Content-Type' header is not supported by this host.",
    )


def internal_error() -> RequestRefused:
    return _refusal(500, "internal-server-error", "Internal Server Error", "")


def _refusal(status: int, type_: str, title: str, detail: str, **more: Any) -> RequestRefused:
    return RequestRefused(Problem(status=status, type=type_, title=title, detail=detail, **more))


def problem_for(error: Exception) -> Problem | None:
    """The problem to answer with; None for a bug."""
    if isinstance(error, RequestRefused):
        return error.problem
    if isinstance(error, IntegrityError | ProtectedError) or isinstance(error.__cause__, _CONTENDED):
        return conflict().problem
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
    """As Ed-Fi's Configuration Service answers: all members, always."""
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
    """As Ed-Fi's Admin API 2 answers; nothing to callers without access."""
    if problem.status in (401, 403):
        return None
    found = problem.validation_errors or {}
    if "$" in found:
        return {"message": texts.V2.MALFORMED_JSON}
    if problem.status == 400:
        return {"title": "Validation failed", "errors": found or {"Request": problem.errors or [problem.detail]}}
    return {"title": problem.detail or problem.title}
