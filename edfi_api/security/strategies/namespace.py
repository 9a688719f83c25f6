"""NamespaceBased: the document's namespace begins with one of the client's prefixes, as text.

See meadowlark/docs/authorization.md#namespaces.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edfi_api.documents.securables import SecurableKind

from ..exceptions import (
    NamespaceMismatch,
    NamespaceRequired,
    NamespaceUninitialized,
    NoNamespacePrefixes,
    StrategyNotApplicable,
)
from ..tokens import AuthenticatedClient
from .strategy import Candidates, Group, Subject, Unresolved, value_of
from .values import STORED, Values

NAMESPACE_BASED = "NamespaceBased"

_BEGINS = "EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) AS prefix WHERE starts_with({value}, prefix))"

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
SELECT n.namespace FROM namespaces n WHERE {_BEGINS.format(value="n.namespace")}
"""

_OF_NAMESPACES = f"""
SELECT d.id FROM ({_NAMESPACES}) n CROSS JOIN LATERAL (
    SELECT d.id FROM document d
     WHERE d.resource_type_id = %(type)s AND d.namespace = n.namespace AND d.id BETWEEN %(first)s AND %(last)s
     ORDER BY d.id LIMIT %(looked_at)s
) d"""


@dataclass(frozen=True, slots=True)
class NamespaceBased:
    """All namespaces of a document must match; there is one, unless an extension adds others."""

    groups: tuple[Group, ...]

    @classmethod
    def of(cls, name: str, subject: Subject) -> "NamespaceBased":
        """Raises StrategyNotApplicable if the documents of the resource have no namespace."""
        if all(group[0].kind is not SecurableKind.NAMESPACE for group in subject.groups):
            raise StrategyNotApplicable(subject.resource.name.resource, name, "Namespace")
        return cls(subject.groups)

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        return {"prefixes": list(client.namespace_prefixes)}

    def precondition(self, client: AuthenticatedClient) -> Exception | None:
        return None if client.namespace_prefixes else NoNamespacePrefixes()

    def sql(self, values: Values) -> str:
        return " AND ".join(_BEGINS.format(value=self._value(group, values)) for group in self._own())

    def sql_for_many(self, values: Values, is_alone: bool) -> str:
        return self.sql(values)

    def candidates(self) -> Candidates:
        return Candidates(
            _OF_NAMESPACES, are_many="true", remaining=None if len(self._own()) == 1 else self.sql(STORED)
        )

    def questions(self, values: Values) -> list[str]:
        asked = []
        for group in self._own():
            value = self._value(group, values)
            asked += [f"{value} IS NOT NULL", f"coalesce({_BEGINS.format(value=value)}, false)"]
        return asked

    def refusal(
        self, answers: Sequence[bool], values: Values, unresolved: Unresolved, client: AuthenticatedClient
    ) -> Exception | None:
        if not client.namespace_prefixes:
            return NoNamespacePrefixes()
        have_value, begin = answers[::2], answers[1::2]
        if not all(have_value):
            return NamespaceUninitialized() if values.is_stored else NamespaceRequired()
        return None if all(begin) else NamespaceMismatch(client.namespace_prefixes, values.is_stored)

    def _own(self) -> list[Group]:
        return [group for group in self.groups if group[0].kind is SecurableKind.NAMESPACE]

    def _value(self, group: Group, values: Values) -> str:
        return value_of(group, self.groups, values)
