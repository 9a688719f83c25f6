"""The conditions of a selection as SQL, in the form that suits how rows are read. Rows are named `d`."""

from typing import Any

from edfi_api.core.queries.selection import Order, Selection
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import AccessPath, Predicate

_IN_WINDOW = Sql("d.change_version BETWEEN %(first_version)s AND %(last_version)s")
_OF_TYPE = Sql("d.resource_type_id = %(type)s::smallint")


def for_one_row(selection: Selection, scanned: Predicate | None = None) -> list[Sql]:
    """The conditions for each row of a scan in the selection's order, except that which the scanned index answers."""
    conditions = [predicate.for_one_row for predicate in selection.predicates if predicate is not scanned]
    is_outside_possible = selection.order is Order.ROW and not selection.is_of_all_versions
    return [*conditions, _IN_WINDOW] if is_outside_possible else conditions


def remaining(selection: Selection, path: AccessPath) -> list[Sql]:
    """The conditions that rows of an access path still have to meet."""
    conditions = [predicate.for_one_row for predicate in selection.predicates if predicate.access_path is not path]
    conditions += [path.remaining] if path.remaining else []
    return conditions if selection.is_of_all_versions else [*conditions, _IN_WINDOW]


def for_many_rows(selection: Selection) -> list[Sql]:
    """The conditions that indexes answer, with the resource type and the versions.

    If one predicate finds few rows, the others are evaluated for each of these.
    """
    conditions = _for_many_rows(selection.predicates)
    if not selection.is_of_all_versions:
        conditions = [_OF_TYPE, *(each for each in conditions if each != _OF_TYPE), _IN_WINDOW]
    return conditions


def _for_many_rows(predicates: tuple[Predicate, ...]) -> list[Sql]:
    if any(predicate.finds_few for predicate in predicates):
        return [each.for_many_rows if each.finds_few else each.for_one_row for each in predicates]
    if len(predicates) == 1 and predicates[0].alone:
        return [predicates[0].alone]
    if all(predicate.in_row_order or predicate.access_path for predicate in predicates):
        return [_OF_TYPE, *(each.for_one_row if each.in_row_order else each.for_many_rows for each in predicates)]
    # The GIN index intersects the values of several predicates, however frequent each of them is.
    return [predicate.for_many_rows for predicate in predicates]


def ranges(selection: Selection) -> dict[str, Any]:
    """The parameters that the conditions of every selection have."""
    return {
        "type": selection.resource_type,
        "first": selection.first_row,
        "last": selection.last_row,
        "first_version": selection.window.first,
        "last_version": selection.window.last,
    }
