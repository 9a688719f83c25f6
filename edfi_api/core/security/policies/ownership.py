"""OwnershipBased: the client that created a document may read, change and delete it. See
meadowlark/docs/design/authorization.md#ownership."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import OwnershipMismatch, OwnershipUninitialized
from edfi_api.core.security.policies.strategy import Strategy, Subject, Unresolved, Values, tests_of
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import AccessPath, Explanation

OWNERSHIP_BASED = "OwnershipBased"


def _rows_of_owner(limit: str) -> Sql:
    return Sql(
        f"""
SELECT d.id FROM document d
 WHERE d.resource_type_id = %(type)s AND d.created_by = %(owner)s::bigint AND d.id BETWEEN %(first)s AND %(last)s
 ORDER BY d.id LIMIT {limit}"""
    )


@dataclass(frozen=True, slots=True)
class OwnershipBased(Strategy):
    """Checks stored documents only: the client that creates a document owns it."""

    @classmethod
    def of(cls, name: str, subject: Subject) -> "OwnershipBased":
        return cls()

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        return {"owner": client.row_id}

    def condition(self, values: Values) -> Sql:
        return Sql(f"{values.column('created_by')} = %(owner)s::bigint" if values.is_stored else "true")

    def access_path(self) -> AccessPath:
        return AccessPath(_rows_of_owner("%(looked_at)s"), _rows_of_owner("NULL"), Sql("false"), remaining=None)

    def explanation(self, values: Values, client: AuthenticatedClient) -> Explanation:
        if not values.is_stored:
            return Explanation((), lambda results, unresolved: None)
        return Explanation(tests_of(values.column("created_by"), self.condition(values).text), _refusal)


def _refusal(results: Sequence[bool], unresolved: Unresolved) -> Exception | None:
    has_owner, is_owned = results
    if not has_owner:
        return OwnershipUninitialized()
    return None if is_owned else OwnershipMismatch()
