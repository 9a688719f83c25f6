"""OwnershipBased: the client that created a document may read, change and delete it. See
meadowlark/docs/authorization.md#ownership."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..exceptions import OwnershipMismatch, OwnershipUninitialized
from ..tokens import AuthenticatedClient
from .strategy import Candidates, Subject, Unresolved
from .values import Values

OWNERSHIP_BASED = "OwnershipBased"

_CREATOR = "created_by"
_OF_CLIENT = """
SELECT d.id FROM document d
 WHERE d.resource_type_id = %(type)s AND d.created_by = %(owner)s::bigint AND d.id BETWEEN %(first)s AND %(last)s
 ORDER BY d.id LIMIT %(looked_at)s"""


@dataclass(frozen=True, slots=True)
class OwnershipBased:
    """Checks stored documents only: the client that creates a document owns it."""

    @classmethod
    def of(cls, name: str, subject: Subject) -> "OwnershipBased":
        return cls()

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        return {"owner": client.row_id}

    def precondition(self, client: AuthenticatedClient) -> Exception | None:
        return None

    def sql(self, values: Values) -> str:
        return f"{values.column(_CREATOR)} = %(owner)s::bigint" if values.is_stored else "true"

    def sql_for_many(self, values: Values, is_alone: bool) -> str:
        return self.sql(values)

    def candidates(self) -> Candidates:
        return Candidates(_OF_CLIENT, are_many="false", remaining=None)

    def questions(self, values: Values) -> list[str]:
        if not values.is_stored:
            return ["true", "true"]
        return [f"{values.column(_CREATOR)} IS NOT NULL", f"coalesce({self.sql(values)}, false)"]

    def refusal(
        self, answers: Sequence[bool], values: Values, unresolved: Unresolved, client: AuthenticatedClient
    ) -> Exception | None:
        has_owner, is_owned = answers
        if not has_owner:
            return OwnershipUninitialized()
        return None if is_owned else OwnershipMismatch()
