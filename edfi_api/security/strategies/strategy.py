"""The interface of authorization strategies: conditions on values in SQL, and the refusals of values that fail."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from edfi_api.documents.securables import SecurableElement, SecurableKind, groups
from edfi_api.model.surface.resource import JsonPath, Resource, Surface

from ..tokens import AuthenticatedClient
from .values import Values

Group = tuple[SecurableElement, ...]
Unresolved = AbstractSet[JsonPath]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The texts of an access path (`storage.row_policy.AccessPath`), with the query for the first rows."""

    sql: str
    are_many: str
    remaining: str | None


@dataclass(frozen=True)
class Subject:
    """The subject of a strategy: the documents of a resource, or the key values kept of deleted ones."""

    resource: Resource
    surface: Surface
    is_for_changes: bool

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        return tuple(groups(self.resource))


class Strategy(Protocol):
    """Frozen, made for one resource, and the same for all clients, which differ only in parameters of the SQL."""

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        """The parameters of the SQL. A name has the same meaning in all strategies."""

    def precondition(self, client: AuthenticatedClient) -> Exception | None:
        """The refusal if the strategy can allow this client no document at all, otherwise None."""

    def sql(self, values: Values) -> str:
        """The condition that is true where the strategy allows, optimized for one row."""

    def sql_for_many(self, values: Values, is_alone: bool) -> str:
        """The same, optimized for many rows: for all of a resource if it `is_alone`, otherwise for rows that other
        conditions narrow down."""

    def candidates(self) -> Candidates | None:
        """An index path to all rows that it may allow; None if there is none."""

    def questions(self, values: Values) -> list[str]:
        """SQL conditions, one for each check; true where the check passes."""

    def refusal(
        self, answers: Sequence[bool], values: Values, unresolved: Unresolved, client: AuthenticatedClient
    ) -> Exception | None:
        """The refusal that follows from the results of `questions`; None if all checks pass."""


def value_of(group: Group, resource_groups: Sequence[Group], values: Values) -> str:
    """The value of elements that are always equal: from a column, or from the body where there is no column."""
    kind = group[0].kind
    first = next(each for each in resource_groups if each[0].kind is kind)
    if group == first:
        return values.column(kind)
    found = [values.member(element.path) for element in group]
    text = found[0] if len(found) == 1 else f"coalesce({', '.join(found)})"
    if kind is not SecurableKind.ORGANIZATION:
        return text
    # Ids beyond bigint count as missing, as in the columns.
    return f"(CASE WHEN abs({text}::numeric) < {2**63} THEN {text}::bigint END)"
