"""What a caller demands of the rows that it lets the store read and write, and of what is about to be written.

A guard is SQL, so that it is answered in the statement that reads or writes: nothing can come between. The same
question is asked of different values: of a row, of a kept row of another table, of the parameters of a write.
Which guards there are is the business of others; the store only asks and, when something is denied, has the guard
find out why.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

from edfi_api.documents.securables import COLUMNS
from edfi_api.surface.resource import JsonPath, ResourceName

# Of documents, by their rows, those that a caller may read, and so be told of where they stand in its way.
MayRead = Callable[[Mapping[int, ResourceName]], AbstractSet[int]]


@dataclass(frozen=True, slots=True)
class RowValues:
    """The values of a row that has the columns of a document, by the alias of its table."""

    alias: str
    is_stored: bool = True

    def column(self, name: str) -> str:
        return f"{self.alias}.{name}"

    def member(self, path: JsonPath) -> str:
        return f"({self.alias}.body #>> '{{{','.join(path.steps)}}}')"


@dataclass(frozen=True, slots=True)
class KeptValues(RowValues):
    """The values of a row that tells what a document was, and has of its body the key values only."""

    key_values: str = "key_values"

    def member(self, path: JsonPath) -> str:
        return self._kept("->>", path)

    def json_member(self, path: JsonPath) -> str:
        """As jsonb, in the type that the body had it."""
        return self._kept("->", path)

    def _kept(self, operator: str, path: JsonPath) -> str:
        at_path = f"f.resource_type_id = {self.alias}.resource_type_id AND f.path = '{{{','.join(path.steps)}}}'"
        return f"(SELECT {self.alias}.{self.key_values} {operator} f.name FROM key_field f WHERE {at_path})"  # noqa: S608


@dataclass(frozen=True, slots=True)
class ProposedValues:
    """The values that a write has as parameters; `is_new` of an upsert whose document does not exist."""

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
    """A way to all documents for which a condition holds, which does not lead past the others.

    `sql` is a query for their ids: the first `looked_at` at least, from `first` to `last`, in any order. `remaining` is
    what still has to be asked of each, about a document `d`; None if nothing has to. `are_many` is SQL: true where the
    way has so many branches that the documents next to each other are worth a look before it is taken.
    """

    sql: str
    are_many: str
    remaining: str | None


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL about a document `d`, with its parameters, whose names mean the same wherever else they occur.

    `sql` is quick for one row; `indexed_sql`, which means the same, is what an index answers, or what is quick for
    many rows; `alone_sql`, where it is given, is quicker if nothing else is asked. `finds_few` says that few documents
    of a resource, if any, have what `indexed_sql` looks for.
    """

    sql: str
    indexed_sql: str
    parameters: Mapping[str, Any]
    alone_sql: str | None = None
    candidates: Candidates | None = None
    finds_few: bool = False


class Guard(Protocol):
    """Frozen. No two guards give the same parameter another meaning, so those of one caller can be put together."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What the SQL of the guard refers to."""

    def sql(self, values: Values) -> str:
        """True where access is allowed; false or NULL elsewhere."""

    def questions(self, values: Values) -> list[str]:
        """True or false for each thing that can be wrong, so that `refusal` can tell what is."""

    def refusal(self, answers: Sequence[bool], values: Values, unresolved: AbstractSet[JsonPath]) -> Exception | None:
        """Why access is denied; None if it is not. `unresolved` are places of references that lead nowhere."""

    def condition(self) -> Condition:
        """For collections. Raises what makes any answer pointless."""

    def fault(self, error: Exception) -> Exception | None:
        """What a refusal of the database to run the guard's SQL means; None if the guard is not to blame."""
