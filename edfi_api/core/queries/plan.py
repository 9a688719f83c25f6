"""How a page is found: `plan` chooses a way from the selection alone. `ordered_plan` does so for a page in the client's
order, which needs an index of this order, or few documents.

An index in the order of the page is fast if matches are frequent, and slow if they are rare or at the far end. For the
GIN index over bodies and the conditions of policies the opposite holds: they return all matches, which are then sorted.
PostgreSQL cannot choose between the two, since matches cluster (those of one school lie together), and since a prepared
statement is planned without the values. So a page is found in bounded steps, the likely one first, and each step
decides by what it has found whether the next one is necessary.
"""

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from edfi_api.common.conf import api_settings
from edfi_api.core.queries.exceptions import IndexRequired
from edfi_api.core.queries.query_indexes import is_indexed
from edfi_api.core.queries.selection import Order, OrderBy, Selection
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import Sql, all_of
from edfi_api.core.storage.row_policy import AccessPath, Predicate

# Queries without an index have a bound: they are answered only if their other conditions leave few documents.

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
    unindexed = [each for each in selection.predicates if each.lacks_index]
    if unindexed and _leaves_many(_without_unindexed(selection)):
        raise IndexRequired(str(unindexed[0].lacks_index), api_settings.MAX_ROWS_WITHOUT_INDEX)


def _without_unindexed(selection: Selection) -> Selection:
    """The selection by the predicates that need no index, or have one."""
    return replace(selection, predicates=tuple(each for each in selection.predicates if not each.lacks_index))


def _leaves_many(selection: Selection) -> bool:
    """Return whether more documents are selected than are looked at one by one, in any range of rows."""
    if any(predicate.finds_few for predicate in selection.predicates):
        return False
    statement = _HAS_MORE.fill(conditions=all_of(for_many_rows(selection)))
    values = ranges(selection) | {"most": api_settings.MAX_ROWS_WITHOUT_INDEX}
    ((has_more,),) = run_with_retries(lambda: execute(statement.with_values(**values), selection.using))
    return bool(has_more)


class Way(Enum):
    """The ways to find a page; the values say when each is chosen."""

    IN_ORDER = "all rows match, or an index in the order of the page finds exactly the matches"
    INDEX = "a predicate matches few documents, such as the key of a person: find them all by its index and sort them"
    INDEX_ALONE = "the same, and it is the only predicate"
    NEAR_ROWS = "scan the nearest rows; use the index of the predicates only if these do not fill the page"
    ACCESS_PATH = "a policy with an access path is the only predicate: the first documents of its path are the page"
    CHECKED_ACCESS_PATH = "the same, but the policy has to be checked: on the first documents of its path, then on all"
    FILTERED_ACCESS_PATH = "other predicates, too: check the first documents of the path, then those of an index"
    ACCESS_PATH_BY_VERSION = "no index has the documents of a policy in version order: scan the nearest rows, then sort"
    CHOSEN_ORDER = "the client's order, which an index has: scan it"
    CHOSEN_ORDER_OF_ALL = "the same, and there are no conditions: the first rows of the index are the page"
    SORTED = "the client's order, and few documents: find them all and sort them"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many rows the bounded steps look at. A page is the same with any limits."""

    # Scanning these costs a millisecond or two. Values that at least one row in eighty has fill a page from them; for
    # rarer values the index returns few enough rows.
    near_rows: int = 2_000
    # How many are near of the rows that an index returns for one value, such as those of one school.
    near_rows_of_value: int = 300
    # Of these it is estimated whether the nearest rows fill a page of a client with an access path.
    sampled_rows: int = 300
    # Documents of an access path that are checked before an index is used.
    path_rows: int = 300
    # The policy is evaluated for each of these, which costs some microseconds.
    near_rows_of_policy: int = 50


LIMITS = Limits()
_SAME_FOR_ALL_VALUES = frozenset({Way.INDEX_ALONE, Way.CHOSEN_ORDER_OF_ALL})


@dataclass(frozen=True, slots=True)
class Plan:
    """A way; the predicate that the scanned index answers, and the access path, if the way uses one."""

    way: Way
    scanned: Predicate | None = None
    path: AccessPath | None = None
    limits: Limits = field(default_factory=lambda: LIMITS)

    @property
    def hides_values(self) -> bool:
        """Whether PostgreSQL has to plan the statement without its values. It would estimate that plans for the values
        are cheaper, and plan at each execution, which takes several times as long as the execution. Each step is
        bounded, so the best plan is the same for all values."""
        return self.path is not None or self.scanned is not None or self.way in _SAME_FOR_ALL_VALUES


def plan(selection: Selection) -> Plan:
    """The plan for a page of the selection."""
    predicates = selection.predicates
    if any(predicate.finds_few for predicate in predicates):
        return Plan(Way.INDEX_ALONE if len(predicates) == 1 and selection.is_of_all_versions else Way.INDEX)
    scanned = _scanned(selection)
    if all(predicate is scanned for predicate in predicates) and _scans_the_window(selection):
        return Plan(Way.IN_ORDER, scanned)
    path = next((predicate.access_path for predicate in predicates if predicate.access_path), None)
    if path is None or scanned is not None:
        return Plan(Way.NEAR_ROWS, scanned)
    if selection.order is Order.CHANGE_VERSION:
        return Plan(Way.ACCESS_PATH_BY_VERSION, path=path)
    if len(predicates) > 1 or not selection.is_of_all_versions:
        return Plan(Way.FILTERED_ACCESS_PATH, path=path)
    return Plan(Way.CHECKED_ACCESS_PATH if path.remaining else Way.ACCESS_PATH, path=path)


def ordered_plan(selection: Selection, order_by: OrderBy) -> Plan:
    """The plan for a page in the client's order. Raises IndexRequired if the order has no index, and the conditions
    leave more documents than are sorted for a page."""
    has_index = is_indexed(order_by.index, selection.using)
    if has_index and not selection.predicates:
        return Plan(Way.CHOSEN_ORDER_OF_ALL if selection.is_of_all_versions else Way.CHOSEN_ORDER)
    if not _leaves_many(_without_unindexed(selection)):
        return Plan(Way.SORTED)
    if has_index:
        return Plan(Way.CHOSEN_ORDER)
    raise IndexRequired(order_by.definition, api_settings.MAX_ROWS_WITHOUT_INDEX)


def _scanned(selection: Selection) -> Predicate | None:
    """The predicate that an index answers in the order of the page."""
    if selection.order is not Order.ROW:
        return None
    return next((predicate for predicate in selection.predicates if predicate.in_row_order), None)


def _scans_the_window(selection: Selection) -> bool:
    """Return whether the scanned index leaves out other versions."""
    return selection.order is Order.CHANGE_VERSION or selection.is_of_all_versions
