"""The answers to requests for which no data store is found."""

from typing import Any


def problem(response: Any) -> tuple[int, dict[str, Any]]:
    """Status and body, without the correlation id."""
    body = response.json()
    body.pop("correlationId")
    body.pop("hints", None)
    return response.status_code, body


def refusal(status: int, type_: str, title: str, detail: str) -> tuple[int, dict[str, Any]]:
    """Status and body of a problem whose only error is its detail."""
    return status, {
        "detail": detail,
        "type": f"urn:ed-fi:api:{type_}",
        "title": title,
        "status": status,
        "validationErrors": {},
        "errors": [detail],
    }


NO_STORES = refusal(
    403,
    "authorization-denied",
    "Authorization Denied",
    "No database instances are authorized for this client",
)
NOT_FOUND = refusal(
    404,
    "route-resolution-error",
    "Route Resolution Error",
    "No database instance found matching the request route qualifiers",
)
AMBIGUOUS = refusal(
    400,
    "route-resolution-error",
    "Route Resolution Error",
    "Multiple database instances match the request route qualifiers - ambiguous routing not supported",
)
NOT_CONFIGURED = refusal(
    503,
    "service-configuration-error",
    "Service Configuration Error",
    "Database connection not configured for the matched instance",
)
NOT_PROVISIONED = refusal(
    503,
    "database-not-provisioned",
    "Database Not Provisioned",
    "The database of the matched instance is not provisioned",
)
