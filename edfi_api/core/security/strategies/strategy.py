"""The base of authorization strategies: conditions in SQL on stored and new values, and why they are not met.

A strategy is made once for a resource and serves all clients: its SQL names the values of a client as parameters, so a
statement is composed and prepared once. It writes its condition once. The values that the condition compares may be in
a stored row, in the history, or in parameters of a write.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from edfi_api.core.documents.securables import COLUMNS, SecurableElement, SecurableKind, groups
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import AccessPath, Explanation
from edfi_api.model.surface.resource import JsonPath, Resource, Surface

Group = tuple[SecurableElement, ...]
Unresolved = AbstractSet[JsonPath]


@dataclass(frozen=True, slots=True)
class RowValues:
    """The values of a row with the columns of `document`; `alias` is its table alias."""

    alias: str
    is_stored: bool = True

    def column(self, name: str) -> str:
        return f"{self.alias}.{name}"

    def member(self, path: JsonPath) -> str:
        return f"({self.alias}.body #>> '{{{','.join(path.steps)}}}')"


@dataclass(frozen=True, slots=True)
class KeptValues(RowValues):
    """The values of a row of the change history, which has the document's `key_values` instead of its body."""

    def member(self, path: JsonPath) -> str:
        return self._kept("->>", path)

    def json_member(self, path: JsonPath) -> str:
        """Return the value as jsonb, with the JSON type that the value had in the body."""
        return self._kept("->", path)

    def _kept(self, operator: str, path: JsonPath) -> str:
        at_path = f"f.resource_type_id = {self.alias}.resource_type_id AND f.path = '{{{','.join(path.steps)}}}'"
        return f"(SELECT {self.alias}.key_values {operator} f.name FROM key_field f WHERE {at_path})"


@dataclass(frozen=True, slots=True)
class ProposedValues:
    """The values in the parameters of a write."""

    is_stored: bool = False

    def column(self, name: str) -> str:
        return f"%({name})s::{COLUMNS[name]}"

    def member(self, path: JsonPath) -> str:
        return f"(%(body)s::jsonb #>> '{{{','.join(path.steps)}}}')"


Values = RowValues | ProposedValues


STORED, KEPT, PROPOSED = RowValues("d"), KeptValues("d"), ProposedValues()


# New values in the rows of a table, not in parameters.
STAGED = RowValues("s", is_stored=False)


@dataclass(frozen=True)
class Subject:
    """The subject of a strategy: the documents of a resource, or the key values kept of deleted ones."""

    resource: Resource
    surface: Surface
    is_for_changes: bool

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        return tuple(groups(self.resource))


class Strategy(ABC):
    """Immutable. Raises StrategyNotApplicable when it is made for a resource without the elements that it needs."""

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        """The values of the client, for the parameters that the SQL names."""
        return {}

    def precondition(self, client: AuthenticatedClient) -> Exception | None:
        """The refusal if the strategy can allow this client no document at all, otherwise None."""
        return None

    @property
    def depends_on_its_subject(self) -> bool:
        """Whether a write of one document of the resource may decide about another."""
        return False

    @abstractmethod
    def condition(self, values: Values) -> Sql:
        """The condition that is true where the strategy allows, optimized for one row."""

    def condition_for_many(self, is_alone: bool) -> Sql:
        """The condition on stored rows, optimized for many: for all of a resource if it `is_alone`, otherwise for rows
        that other conditions narrow down."""
        return self.condition(STORED)

    def condition_on_versions(self) -> Sql:
        """Return what `condition` returns, on former versions of a document, which have also the change versions at
        which each `began` and `ended` to be the current one.
        """
        return self.condition(KEPT)

    def organizations(self) -> Sql | None:
        """A condition on the column of the organization that all rows meet that it may allow, for an index on that
        column; None if there is none."""
        return None

    def access_path(self) -> AccessPath | None:
        """A path through indexes to all rows that it may allow; None if there is none."""
        return None

    def rows(self) -> Sql | None:
        """A query for the ids of exactly the rows that it allows, in an index; None if there is none."""
        return None

    @abstractmethod
    def explanation(self, values: Values, client: AuthenticatedClient) -> Explanation:
        """Tests of single reasons, and the refusal that follows from their results."""


def tests_of(value: str, condition: str) -> tuple[Sql, Sql]:
    """Return whether there is a value, and whether it meets the condition."""
    return Sql(f"{value} IS NOT NULL"), Sql(f"coalesce({condition}, false)")


def pairs(results: Sequence[bool]) -> list[tuple[bool, bool]]:
    """The results of `tests_of` several values."""
    return list(zip(results[::2], results[1::2], strict=True))


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


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
