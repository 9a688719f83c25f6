"""The conditions of a selection as SQL, in the form that suits how rows are read. Rows are named `d`.

Queries without an index have a bound: they are answered only if their other conditions leave few documents.
"""

from dataclasses import replace
from typing import Any

from edfi_api.common.conf import api_settings
from edfi_api.core.queries.exceptions import IndexRequired
from edfi_api.core.queries.selection import Order, Selection
from edfi_api.core.storage.driver.execution import execute, with_retries
from edfi_api.core.storage.driver.sql import Sql, all_of
from edfi_api.core.storage.row_policy import AccessPath, Predicate

_IN_WINDOW = Sql("d.change_version BETWEEN %(first_version)s AND %(last_version)s")
_OF_TYPE = Sql("d.resource_type_id = %(type)s::smallint")

_HAS_MORE = Sql("""
SELECT EXISTS (SELECT FROM document d WHERE d.resource_type_id = %(type)s::smallint AND {conditions} OFFSET %(most)s)
""")


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


def require_index(selection: Selection) -> None:
    """Raises IndexRequired if a predicate lacks an index, and the others leave more rows than are looked at one by
    one."""
    lacking = [each for each in selection.predicates if each.lacks_index]
    if lacking and leaves_many(without_lacking(selection)):
        raise IndexRequired(str(lacking[0].lacks_index), api_settings.MAX_ROWS_WITHOUT_INDEX)


def without_lacking(selection: Selection) -> Selection:
    """The selection by the predicates that need no index, or have one."""
    return replace(selection, predicates=tuple(each for each in selection.predicates if not each.lacks_index))


def leaves_many(selection: Selection) -> bool:
    """Whether more documents are selected than are looked at one by one, in any range of rows."""
    if any(predicate.finds_few for predicate in selection.predicates):
        return False
    statement = _HAS_MORE.fill(conditions=all_of(for_many_rows(selection)))
    values = ranges(selection) | {"most": api_settings.MAX_ROWS_WITHOUT_INDEX}
    ((has_more,),) = with_retries(lambda: execute(statement.with_values(**values), selection.using))
    return bool(has_more)
