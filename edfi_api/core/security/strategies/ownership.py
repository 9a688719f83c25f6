"""OwnershipBased: the client that created a document may read, change and delete it. See
meadowlark/docs/design/authorization.md#ownership.

The index of the documents of each owner in their order would take a tenth of the bytes of a small document. So it is
there only while a claim set in use decides by ownership: `migrate`, `index_owners` and `housekeeping` build and drop
it, without blocking writers. Until it is built, pages of such clients are found by `document_creator`, which has one
entry for all documents of an owner and a resource, and sorted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.models import Q

from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import OwnershipMismatch, OwnershipUninitialized
from edfi_api.core.security.models import ClaimSet, DefaultStrategies
from edfi_api.core.security.strategies.strategy import Strategy, Subject, Unresolved, Values, tests_of
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


_IS_USABLE = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('document_owner')"
_BUILD = """
CREATE INDEX CONCURRENTLY document_owner ON document (created_by, resource_type_id, id) WHERE created_by IS NOT NULL
"""
_COMMENT = "COMMENT ON INDEX document_owner IS 'Documents of the client that created them, in the order of creation.'"
_DROP = "DROP INDEX CONCURRENTLY IF EXISTS document_owner"


def synchronize_index(using: str) -> str:
    """Build the index of a database if it is needed, and drop it otherwise, outside of transactions; return what was
    done, an empty text for nothing. What an interrupted build has left is built again."""
    is_needed = decides_by_ownership()
    with connections[using].cursor() as cursor:
        cursor.execute(_IS_USABLE)
        found = cursor.fetchone()
        if is_needed is (found is not None and found[0]):
            return ""
        cursor.execute(_DROP)
        if is_needed:
            cursor.execute(_BUILD)
            cursor.execute(_COMMENT)
            return "document_owner built: a claim set decides by ownership"
        return "document_owner dropped: no claim set in use decides by ownership" if found else ""


def decides_by_ownership() -> bool:
    """Return whether a resource claim does by default, or a claim set of an application or of an operator."""
    is_in_use = Q(applications__isnull=False) | Q(is_system_reserved=False)
    by_ownership = Q(grants__overrides__strategies__contains=[OWNERSHIP_BASED])
    return (
        ClaimSet.objects.filter(is_in_use, by_ownership).exists()
        or DefaultStrategies.objects.filter(strategies__contains=[OWNERSHIP_BASED]).exists()
    )
