"""The errors of the management API, with the texts of Ed-Fi's Configuration Service, which clients match on.

Their types differ from those of the data API (`problem_details.catalog`), and no member is ever left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from edfi_api.features.management_api import texts
from edfi_api.web.problem_details.problem import Problem

SEE_ERRORS = "The request could not be processed. See 'errors' for details."


class RequestRefused(Exception):
    """A request is refused with this problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def members_of(problem: Problem, correlation_id: str) -> dict[str, Any]:
    """The JSON object, with all of its members."""
    return {
        "detail": problem.detail,
        "type": problem.type if problem.type == "about:blank" else problem.urn,
        "title": problem.title,
        "status": problem.status,
        "correlationId": correlation_id,
        "validationErrors": problem.validation_errors or {},
        "errors": problem.errors,
    }


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
