"""OwnershipBased: whoever created a document may read, change and delete it. Source: security.md §7.2."""

from collections.abc import Sequence
from dataclasses import dataclass

from edfi_api.documents.guards import Values

from ..exceptions import OwnershipMismatch, OwnershipUninitialized
from ..tokens import AuthenticatedClient
from .strategy import Unresolved

OWNERSHIP_BASED = "OwnershipBased"

_CREATOR = "created_by"


@dataclass(frozen=True, slots=True)
class OwnershipBased:
    """Asks about what is stored only: a new document becomes its creator's own."""

    def sql(self, values: Values) -> str:
        return f"{values.column(_CREATOR)} = %(owner)s::bigint" if values.is_stored else "true"

    def sql_for_many(self, values: Values) -> str:
        return self.sql(values)

    def candidates(self, condition: str) -> str:
        """The first documents of the client, for which the condition holds too."""
        return f"""
SELECT d.id FROM document d
 WHERE d.resource_type_id = %(type)s AND d.created_by = %(owner)s::bigint AND d.id BETWEEN %(first)s AND %(last)s
   AND {condition}
 ORDER BY d.id LIMIT %(looked_at)s"""

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
