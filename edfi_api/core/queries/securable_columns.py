"""Query fields with the organization, a person or the namespace of a document, which its row has as a column.

The index of the column returns the rows of one organization or namespace in the order of row ids, while the GIN index
returns all of them in any order. `documents.securables` fills the columns.
"""

from dataclasses import dataclass, replace
from typing import Any

from edfi_api.core.documents.securables import COLUMNS, SecurableKind, groups
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import IndexedValue, Predicate
from edfi_api.model.surface.resource import QueryField, Resource

_BIGINT = range(-(2**63), 2**63)
# Kinds with an index on resource type, column and row id.
_IN_ROW_ORDER = (SecurableKind.ORGANIZATION, SecurableKind.NAMESPACE)


@dataclass(frozen=True, slots=True)
class SecurableColumn:
    """The column that always has the value of a query field.

    `index_condition` is the condition under which the index of the column has all rows of the resource with a value;
    None if it has not.
    """

    kind: SecurableKind
    index_condition: str | None

    def equals(self, value: Any, parameter: str, contained: Predicate) -> Predicate:
        """The predicate `contained` with comparisons of the column wherever these are faster."""
        if self.kind is SecurableKind.ORGANIZATION and not (isinstance(value, int) and value in _BIGINT):
            return contained  # No column has such a number.
        compared = Sql(f"%({parameter})s::{COLUMNS[self.kind]}", {parameter: value})
        equal = f"d.{self.kind} = " + compared
        indexed = IndexedValue(self.kind, compared) if self.kind in _IN_ROW_ORDER else None
        predicate = replace(contained, for_one_row=equal, in_row_order=indexed)
        if self.index_condition is None or not contained.finds_few:
            return predicate  # The GIN index intersects frequent values.
        return replace(predicate, for_many_rows=equal + " AND " + self.index_condition)


def securable_column(field: QueryField, resource: Resource) -> SecurableColumn | None:
    """The column of a field whose members are in the same securable group: all of the group, or required ones."""
    paths = set(field.paths)
    kinds: set[SecurableKind] = set()
    for group in groups(resource):
        kind, members = group[0].kind, {element.path for element in group}
        is_always_equal = paths == members or (paths < members and not paths.isdisjoint(resource.identity))
        if is_always_equal and kind not in kinds:  # The column has the value of the first group of its kind.
            return SecurableColumn(kind, _index_condition(kind, resource))
        kinds.add(kind)
    return None


def _index_condition(kind: SecurableKind, resource: Resource) -> str | None:
    if kind in (*_IN_ROW_ORDER, SecurableKind.CONTACT):
        return "d.resource_type_id = %(type)s"
    if resource.authorization_pathways:
        return "d.resource_type_id = %(type)s AND d.opens_pathway"
    if all(group[0].kind is not SecurableKind.ORGANIZATION for group in groups(resource)):
        return "d.resource_type_id = %(type)s AND d.organization IS NULL"
    return None
