"""NamespaceBased: one of the client's prefixes covers the document's namespace.

See meadowlark/docs/design/authorization.md#namespaces.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edfi_api.core.documents.securables import SecurableKind
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import (
    NamespaceMismatch,
    NamespaceRequired,
    NamespaceUninitialized,
    NoNamespacePrefixes,
    StrategyNotApplicable,
)
from edfi_api.core.security.names import covered
from edfi_api.core.security.strategies.strategy import (
    STORED,
    Group,
    Strategy,
    Subject,
    Unresolved,
    Values,
    pairs,
    tests_of,
    value_of,
)
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import AccessPath, Explanation

NAMESPACE_BASED = "NamespaceBased"


def _begins(value: str) -> str:
    """Return the condition that a value begins with a prefix, which is never NULL."""
    return (
        f"(EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) AS prefix WHERE starts_with({value}, prefix))"
        f" OR coalesce({value} = ANY (%(namespaces)s::text[]), false))"
    )


# A loose index scan: from one distinct namespace to the next, without reading every row.
_NAMESPACES = f"""
WITH RECURSIVE namespaces AS (
    (SELECT d.namespace FROM document d
      WHERE d.resource_type_id = %(type)s AND d.namespace IS NOT NULL ORDER BY d.namespace LIMIT 1)
     UNION ALL
    SELECT (SELECT d.namespace FROM document d
             WHERE d.resource_type_id = %(type)s AND d.namespace > n.namespace ORDER BY d.namespace LIMIT 1)
      FROM namespaces n WHERE n.namespace IS NOT NULL
)
SELECT n.namespace FROM namespaces n WHERE {_begins("n.namespace")}
"""


def _rows_of_namespaces(limit: str) -> Sql:
    return Sql(
        f"""
SELECT d.id FROM ({_NAMESPACES}) n CROSS JOIN LATERAL (
    SELECT d.id FROM document d
     WHERE d.resource_type_id = %(type)s AND d.namespace = n.namespace AND d.id BETWEEN %(first)s AND %(last)s
     ORDER BY d.id LIMIT {limit}
) d"""
    )


@dataclass(frozen=True, slots=True)
class NamespaceBased(Strategy):
    """All namespaces of a document must match; there is one, unless an extension adds others."""

    groups: tuple[Group, ...]

    @classmethod
    def of(cls, name: str, subject: Subject) -> "NamespaceBased":
        """Raises StrategyNotApplicable if the documents of the resource have no namespace."""
        if all(group[0].kind is not SecurableKind.NAMESPACE for group in subject.groups):
            raise StrategyNotApplicable(subject.resource.name.resource, name, "Namespace")
        return cls(subject.groups)

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        beginnings, complete_names = covered(client.namespace_prefixes)
        return {"prefixes": beginnings, "namespaces": complete_names}

    def precondition(self, client: AuthenticatedClient) -> Exception | None:
        return None if client.namespace_prefixes else NoNamespacePrefixes()

    def condition(self, values: Values) -> Sql:
        return Sql(" AND ".join(_begins(value) for value in self._namespaces(values)))

    def access_path(self) -> AccessPath:
        remaining = None if len(self._namespaces(STORED)) == 1 else self.condition(STORED)
        return AccessPath(_rows_of_namespaces("%(looked_at)s"), _rows_of_namespaces("NULL"), Sql("true"), remaining)

    def explanation(self, values: Values, client: AuthenticatedClient) -> Explanation:
        def refuse(results: Sequence[bool], unresolved: Unresolved) -> Exception | None:
            if not client.namespace_prefixes:
                return NoNamespacePrefixes()
            tested = pairs(results)
            if not all(has_value for has_value, _ in tested):
                return NamespaceUninitialized() if values.is_stored else NamespaceRequired()
            if not all(begins for _, begins in tested):
                return NamespaceMismatch(client.namespace_prefixes, values.is_stored)
            return None

        tests = [test for value in self._namespaces(values) for test in tests_of(value, _begins(value))]
        return Explanation(tuple(tests), refuse)

    def _namespaces(self, values: Values) -> list[str]:
        own = (group for group in self.groups if group[0].kind is SecurableKind.NAMESPACE)
        return [value_of(group, self.groups, values) for group in own]
