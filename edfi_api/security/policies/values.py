"""Where a condition finds the values that it compares: in a stored row, in the history, or in parameters of a write.

A strategy writes its condition once, for any of these.
"""

from dataclasses import dataclass

from edfi_api.documents.securables import COLUMNS
from edfi_api.model.surface.resource import JsonPath


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
        """As jsonb, with the JSON type that the value had in the body."""
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
