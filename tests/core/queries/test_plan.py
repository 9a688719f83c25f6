"""The plan of a page is a function of the selection."""

import pytest

from edfi_api.core.queries.plan import Plan, Way, plan
from edfi_api.core.queries.selection import Order, Selection, Window
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import AccessPath, IndexedValue, Predicate

_SQL = Sql("true")
VALUE = Predicate(Sql("d.body @> '{}'"), _SQL)
STUDENT = Predicate(_SQL, _SQL, finds_few=True)
SCHOOL = Predicate(_SQL, _SQL, in_row_order=IndexedValue("organization", _SQL))
VIEW = Predicate(Sql("d.id IN (SELECT 1)"), _SQL)
PATH = AccessPath(_SQL, _SQL, _SQL, remaining=None)
CHECKED_PATH = AccessPath(_SQL, _SQL, _SQL, remaining=_SQL)
POLICY = Predicate(_SQL, _SQL, access_path=PATH)
CHECKED_POLICY = Predicate(_SQL, _SQL, access_path=CHECKED_PATH)

ALL = Selection(resource_type=1, using="default")
SINCE = ALL.within(Window(5))
CHANGES = ALL.within(Window(5, 9)).ordered_by(Order.CHANGE_VERSION)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (ALL, Plan(Way.IN_ORDER)),
        (CHANGES, Plan(Way.IN_ORDER)),
        (ALL.where(SCHOOL), Plan(Way.IN_ORDER, SCHOOL)),
        (SINCE, Plan(Way.NEAR_ROWS)),
        (ALL.where(VALUE), Plan(Way.NEAR_ROWS)),
        (ALL.where(VIEW), Plan(Way.NEAR_ROWS)),
        (CHANGES.where(VALUE), Plan(Way.NEAR_ROWS)),
        # The index of organizations is not in the order of versions.
        (CHANGES.where(SCHOOL), Plan(Way.NEAR_ROWS)),
        (SINCE.where(SCHOOL), Plan(Way.NEAR_ROWS, SCHOOL)),
        (ALL.where(VALUE, SCHOOL), Plan(Way.NEAR_ROWS, SCHOOL)),
        (ALL.where(STUDENT), Plan(Way.INDEX_ALONE)),
        (CHANGES.where(STUDENT), Plan(Way.INDEX)),
        (CHANGES.where(VALUE, SCHOOL, STUDENT, POLICY), Plan(Way.INDEX)),
        (ALL.where(POLICY), Plan(Way.ACCESS_PATH, path=PATH)),
        (ALL.where(CHECKED_POLICY), Plan(Way.CHECKED_ACCESS_PATH, path=CHECKED_PATH)),
        (ALL.where(VALUE, POLICY), Plan(Way.FILTERED_ACCESS_PATH, path=PATH)),
        (SINCE.where(POLICY), Plan(Way.FILTERED_ACCESS_PATH, path=PATH)),
        (CHANGES.where(VALUE, POLICY), Plan(Way.ACCESS_PATH_BY_VERSION, path=PATH)),
        # The documents of the requested school are fewer than those of the client.
        (ALL.where(SCHOOL, POLICY), Plan(Way.NEAR_ROWS, SCHOOL)),
    ],
)
def test_a_selection_has_one_plan(selection: Selection, expected: Plan) -> None:
    assert plan(selection) == expected


def test_plans_of_bounded_steps_hide_their_values() -> None:
    assert plan(ALL.where(POLICY)).hides_values
    assert plan(ALL.where(SCHOOL)).hides_values
    assert plan(ALL.where(SCHOOL, VALUE)).hides_values
    assert plan(ALL.where(STUDENT)).hides_values
    assert not plan(ALL.where(VALUE)).hides_values
    # Which of them an index should answer depends on how frequent the values are.
    assert not plan(ALL.where(STUDENT, VALUE)).hides_values
