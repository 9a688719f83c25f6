"""The interface between the store and row-level authorization: conditions on stored rows and on proposed values.

A guard is SQL that becomes part of the statement that reads or writes, so the check and the access are atomic. The same
condition applies to different values: a stored row, a row of the change history, the parameters of a write. The store
only evaluates guards and, after a denial, lets the guard explain it; implementations are in `security`.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

from edfi_api.documents.securables import COLUMNS
from edfi_api.model.surface.resource import JsonPath, ResourceName

# Takes row id → resource name of some documents, returns the row ids that the caller may read. Limits what errors name.
MayRead = Callable[[Mapping[int, ResourceName]], AbstractSet[int]]


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
    """The values of a row of the change history, which has the document's key values instead of its body."""

    key_values: str = "key_values"

    def member(self, path: JsonPath) -> str:
        return self._kept("->>", path)

    def json_member(self, path: JsonPath) -> str:
        """As jsonb, with the JSON type that the value had in the body."""
        return self._kept("->", path)

    def _kept(self, operator: str, path: JsonPath) -> str:
        at_path = f"f.resource_type_id = {self.alias}.resource_type_id AND f.path = '{{{','.join(path.steps)}}}'"
        return f"(SELECT {self.alias}.{self.key_values} {operator} f.name FROM key_field f WHERE {at_path})"  # noqa: S608


@dataclass(frozen=True, slots=True)
class ProposedValues:
    """The values in the parameters of a write; `is_new` for an upsert that inserts."""

    is_new: bool = False
    is_stored: bool = False

    def column(self, name: str) -> str:
        return f"%({name})s::{COLUMNS[name]}"

    def member(self, path: JsonPath) -> str:
        return f"(%(body)s::jsonb #>> '{{{','.join(path.steps)}}}')"


Values = RowValues | ProposedValues
STORED, PROPOSED, NEW = RowValues("d"), ProposedValues(), ProposedValues(is_new=True)


@dataclass(frozen=True, slots=True)
class Candidates:
    """An access path to the documents for which a condition holds, which does not scan the others.

    `sql` is a query for their ids: at least the first `looked_at` between `first` and `last`, in any order. `remaining`
    is the condition on a document `d` that each of them still has to meet; None if there is none. `are_many` is an SQL
    expression: true if the path has so many branches that scanning the nearest rows first is worth it.
    """

    sql: str
    are_many: str
    remaining: str | None


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a document `d` in equivalent forms, with its parameters.

    `sql` is fast for a single row; `indexed_sql` can use an index or is fast for many rows; `alone_sql`, if given, is
    faster when it is the only condition. `finds_few`: `indexed_sql` matches few documents of a resource. Equal
    parameter names have equal values in all conditions of a statement.
    """

    sql: str
    indexed_sql: str
    parameters: Mapping[str, Any]
    alone_sql: str | None = None
    candidates: Candidates | None = None
    finds_few: bool = False


class Guard(Protocol):
    """Immutable. Guards never use one parameter name for different values, so those of one caller can be combined."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the guard's SQL."""

    def sql(self, values: Values) -> str:
        """A boolean expression: true if access is allowed, otherwise false or NULL."""

    def questions(self, values: Values) -> list[str]:
        """A boolean expression for each possible reason of a denial; `refusal` interprets their values."""

    def refusal(self, answers: Sequence[bool], values: Values, unresolved: AbstractSet[JsonPath]) -> Exception | None:
        """Why access is denied; None if it is not. `unresolved` has the paths of references that do not resolve."""

    def condition(self) -> Condition:
        """The condition for collections. Raises a refusal if the caller cannot be allowed to read any document."""

    def fault(self, error: Exception) -> Exception | None:
        """The refusal behind an error that the guard's SQL has raised; None if the error has another cause."""
