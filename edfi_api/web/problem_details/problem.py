"""The problem object of RFC 9457, with Ed-Fi's members in Ed-Fi's order, and of bounded size. See
meadowlark/docs/reference/contract.md#problem-details."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from edfi_api.common.conf import api_settings
from edfi_api.core.documents.violations import MOST_REPORTED

MEDIA_TYPE = "application/problem+json"
URN_PREFIX = "urn:ed-fi:api"
# Stands in a detail before what would help.
HINT = "Hint: "
_LONGEST_TEXT = 1000
_THERE_ARE_MORE = f"Only the first {MOST_REPORTED} are listed; there are more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The answer to a refused request. `type` is the part after the URN prefix.

    `validation_errors` is None where Ed-Fi omits the member. The number of messages is limited, and texts that quote
    the request are truncated, so no answer exceeds about 200 kB. `related` is the path, below the root of the server,
    of the target of a `Link` header. `log_facts` are added to the log line of the request; they contain no values of
    documents. `audit_reason` is the reason in the audit log where the client sees a less specific one. `members` are
    further members of the object, after those of all problems; hints follow them.
    """

    status: int
    type: str
    title: str
    detail: str
    validation_errors: dict[str, list[str]] | None = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    related: str = ""
    log_facts: dict[str, str] = field(default_factory=dict)
    audit_reason: str = ""
    members: dict[str, Any] = field(default_factory=dict)
    # Without correlation id and lists of errors, where Ed-Fi's servers have none.
    is_short: bool = False

    def __post_init__(self) -> None:
        by_path = self.validation_errors or {}
        messages = [(path, text) for path, texts in by_path.items() for text in texts]
        errors = self.errors[:MOST_REPORTED]
        if len(messages) > MOST_REPORTED or len(self.errors) > MOST_REPORTED:
            errors = [*errors, _THERE_ARE_MORE]
        if by_path:
            object.__setattr__(self, "validation_errors", _by_path(messages[:MOST_REPORTED]))
        object.__setattr__(self, "errors", [_cut(text) for text in errors])

    @property
    def urn(self) -> str:
        return f"{URN_PREFIX}:{self.type}"

    def body(self, correlation_id: str) -> dict[str, Any]:
        """The members of the JSON object."""
        members: dict[str, Any] = {
            "detail": self.detail,
            "type": self.urn,
            "title": self.title,
            "status": self.status,
        }
        if self.is_short:
            return members
        members["correlationId"] = correlation_id
        if self.validation_errors is not None:
            members["validationErrors"] = self.validation_errors
        members["errors"] = self.errors
        if api_settings.OMIT_EMPTY_PROBLEM_MEMBERS:
            members = {name: value for name, value in members.items() if value not in ({}, [])}
        return members | self.members


def _by_path(messages: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, text in messages:
        found.setdefault(_cut(path), []).append(_cut(text))
    return found


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


# Here, since the HTTP server answers with it, which begins before the exceptions of the catalog can be imported.
SYSTEM_ERROR = Problem(status=500, type="system", title="System Error", detail="An unexpected problem has occurred.")
