"""The problem object: RFC 9457 with Ed-Fi's members, in Ed-Fi's order. Source: errors.md §1."""

from dataclasses import dataclass, field
from typing import Any

from edfi_api.conf import api_settings

MEDIA_TYPE = "application/problem+json"
URN_PREFIX = "urn:ed-fi:api"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What an exception means to a client. `type` is what follows the URN prefix.

    `validation_errors` is None where Ed-Fi leaves the member out.
    """

    status: int
    type: str
    title: str
    detail: str
    validation_errors: dict[str, list[str]] | None = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, correlation_id: str) -> dict[str, Any]:
        """The members as JSON has them."""
        members: dict[str, Any] = {
            "detail": self.detail,
            "type": f"{URN_PREFIX}:{self.type}",
            "title": self.title,
            "status": self.status,
            "correlationId": correlation_id,
        }
        if self.validation_errors is not None:
            members["validationErrors"] = self.validation_errors
        members["errors"] = self.errors
        if api_settings.OMIT_EMPTY_PROBLEM_MEMBERS:
            return {name: value for name, value in members.items() if value not in ({}, [])}
        return members
