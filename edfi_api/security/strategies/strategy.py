"""What an authorization strategy is: conditions on values in SQL, and the words for values that break them."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from edfi_api.documents.guards import Candidates, Values
from edfi_api.documents.securables import SecurableElement, SecurableKind, groups
from edfi_api.surface.resource import JsonPath, Resource, Surface

from ..tokens import AuthenticatedClient

Group = tuple[SecurableElement, ...]
Unresolved = AbstractSet[JsonPath]


@dataclass(frozen=True)
class Subject:
    """What a strategy is made for: the documents of a resource, or what is kept of those that were."""

    resource: Resource
    surface: Surface
    is_for_changes: bool

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        return tuple(groups(self.resource))


class Strategy(Protocol):
    """Frozen, made for one resource, and the same for all clients: what differs are parameters of the SQL."""

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        """What the SQL refers to. No two strategies give a name another meaning."""

    def precondition(self, client: AuthenticatedClient) -> Exception | None:
        """Why no document at all can be allowed to the client; None if some may be."""

    def sql(self, values: Values) -> str:
        """True where it allows; quick for one row."""

    def sql_for_many(self, values: Values, is_alone: bool) -> str:
        """The same, quick for many rows: for all of a resource if it `is_alone`, otherwise for those that are found by
        other conditions."""

    def candidates(self) -> Candidates | None:
        """The way to all that it may allow; None where no index leads there."""

    def questions(self, values: Values) -> list[str]:
        """True for each thing that is in order."""

    def refusal(
        self, answers: Sequence[bool], values: Values, unresolved: Unresolved, client: AuthenticatedClient
    ) -> Exception | None:
        """What these answers mean for the client; None if nothing is wrong."""


def value_of(group: Group, resource_groups: Sequence[Group], values: Values) -> str:
    """The value of elements that are always equal: a column, or for what no column has room for, the body's."""
    kind = group[0].kind
    first = next(each for each in resource_groups if each[0].kind is kind)
    if group == first:
        return values.column(kind)
    found = [values.member(element.path) for element in group]
    text = found[0] if len(found) == 1 else f"coalesce({', '.join(found)})"
    if kind is not SecurableKind.ORGANIZATION:
        return text
    # Ids that no column can hold are nobody's, as in the columns.
    return f"(CASE WHEN abs({text}::numeric) < {2**63} THEN {text}::bigint END)"
