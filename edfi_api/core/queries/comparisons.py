"""Comparisons → predicates. `in` is several equalities; the others compare the value at each path of the field.

Only an index of the value (`query_indexes`) answers these others for many documents. Without it the predicate says so,
and the query is answered only if its other conditions leave few documents (`bounds`).
"""

from collections.abc import Callable, Iterable

from edfi_api.core.documents import json_text
from edfi_api.core.queries.operators import Comparison, Operator
from edfi_api.core.queries.query_indexes import IndexColumn, QueryIndex, is_indexed
from edfi_api.core.queries.selection import Selection
from edfi_api.core.queries.stored_values import MISSING, begins_with, text_at, value_at
from edfi_api.core.storage.driver.sql import Sql, all_of, any_of
from edfi_api.core.storage.row_policy import Predicate
from edfi_api.model.surface.resource import JsonPath, Resource

# Conditions on the value `{0}`, compared with `{1}`.
_RANGES = {
    Operator.GREATER: "{0} > {1}",
    Operator.GREATER_OR_EQUAL: "{0} >= {1}",
    Operator.LESS: "{0} < {1} AND {0} > " + MISSING,
    Operator.LESS_OR_EQUAL: "{0} <= {1} AND {0} > " + MISSING,
    # An index has two ranges of these.
    Operator.NOT_EQUAL: "({0} < {1} OR {0} > {1})",
}


def comparison_predicate(
    comparison: Comparison, resource: Resource, parameter: str, selection: Selection, stored: Callable[..., object]
) -> Predicate:
    """The predicate of any comparison but `in`. `stored` brings a value into the form that bodies have at a path."""
    paths, operator = comparison.field.paths, comparison.operator
    conditions = []
    for number, path in enumerate(paths):
        value = stored(path, comparison.values[0], selection.using)
        conditions.append(_condition(operator, path, value, f"{parameter}_{number}"))
    condition = _joined(operator, conditions, is_true=comparison.values[0] is True)
    indexes = (QueryIndex(resource, (IndexColumn(path, operator is Operator.PREFIX),)) for path in paths)
    has_index = all(is_indexed(index, selection.using) for index in indexes)
    # The type is a literal, so that PostgreSQL sees that the partial index has these rows.
    of_type = Sql(f"d.resource_type_id = {selection.resource_type}")
    return Predicate(
        condition, all_of([of_type, condition]), lacks_index=None if has_index else _argument(resource, comparison)
    )


def _argument(resource: Resource, comparison: Comparison) -> str:
    """What `create_query_index` takes."""
    suffix = "[prefix]" if comparison.operator is Operator.PREFIX else ""
    return f"{resource.url_path.lstrip('/')}.{comparison.field.name}{suffix}"


def _condition(operator: Operator, path: JsonPath, value: object, parameter: str) -> Sql:
    if operator is Operator.PREFIX:
        return Sql(begins_with(text_at(path), f"%({parameter})s::text"), {parameter: value})
    if operator is Operator.EXISTS:
        return Sql(f"{value_at(path)} {'>' if value else '='} {MISSING}")
    text = _RANGES[operator].format(value_at(path), f"%({parameter})s::jsonb")
    return Sql(text, {parameter: json_text.dumps(value).decode()})


def _joined(operator: Operator, conditions: Iterable[Sql], *, is_true: bool) -> Sql:
    """A value at any of the paths suffices; a value is absent, or another one, only if it is so at all of them."""
    is_negative = operator is Operator.NOT_EQUAL or (operator is Operator.EXISTS and not is_true)
    return all_of(conditions) if is_negative else any_of(conditions)
