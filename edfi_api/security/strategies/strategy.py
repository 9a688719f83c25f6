"""What an authorization strategy is: conditions on values in SQL, and the words for values that break them."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from edfi_api.documents.guards import Candidates, Values
from edfi_api.documents.securables import SecurableElement, SecurableKind
from edfi_api.surface.resource import JsonPath

from ..tokens import AuthenticatedClient

Group = tuple[SecurableElement, ...]
Unresolved = AbstractSet[JsonPath]


class Strategy(Protocol):
    """Frozen, made for one resource, and the same for all clients: what differs are parameters of the SQL."""

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
