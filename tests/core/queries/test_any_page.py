"""Every combination of filters, policy, window, range, order and size yields the documents that a plain query yields,
by a statement that PostgreSQL can plan without scanning the table.

MEADOWLARK_TEST_EXAMPLES=2000 sets the number of random combinations, which differ between runs.
"""

import os
from unittest.mock import patch

import pytest
from django.db import connection
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from edfi_api.core.queries import collection, plan
from edfi_api.core.queries.page_sql import page_sql, rest_sql
from edfi_api.core.queries.plan import Way
from edfi_api.core.security.strategies import relationships
from edfi_api.core.storage.driver.execution import execute
from tests.core.queries.selections import LIMITS, OFFSETS, OWNER, SIZES, selections
from tests.support import superuser

pytestmark = pytest.mark.django_db

_EXAMPLES = os.environ.get("MEADOWLARK_TEST_EXAMPLES")
any_selection = settings(
    max_examples=int(_EXAMPLES or 60),
    derandomize=_EXAMPLES is None,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)

# Size and offset.
CUTS = st.tuples(SIZES, OFFSETS)
# The largest number of organizations for which a policy is not considered to have many branches.
FEW = st.sampled_from([-1, 32])

# Gives documents in the middle later versions, in another order than that of rows, and some of them an owner.
_CHANGES = """
SET LOCAL session_replication_role = replica;
UPDATE document d SET change_version = 1000000 + 7919 * d.id %% 100003, created_by = %s WHERE d.id %% 5 = 0;
SET LOCAL session_replication_role = origin;
ANALYZE document
"""
_QUANTILES = """
SELECT percentile_disc(ARRAY[0, 0.2, 0.4, 0.6, 0.8, 1]) WITHIN GROUP (ORDER BY id) FROM document
"""


@pytest.fixture
def rows(district) -> tuple[int, ...]:
    """Row ids from the first to the last."""
    with connection.cursor() as cursor:
        superuser.let_skip_triggers()
        cursor.execute(_CHANGES, [OWNER])
        cursor.execute(_QUANTILES)
        [(found,)] = cursor.fetchall()
        return (0, *found)


@any_selection
@given(data=st.data(), cut=CUTS, limits=LIMITS, few=FEW)
def test_any_page_and_total_equal_those_of_a_plain_query(rows, data, cut, limits, few):
    with patch.object(plan, "LIMITS", limits), patch.object(relationships, "_FEW", few):
        drawn = data.draw(selections(rows))
        event(plan.plan(drawn.selection).way.name)

        page = [document.row for document in collection.page(drawn.selection, *cut)]

        assert page == drawn.ids(*cut)
        assert collection.count(drawn.selection) == drawn.count()


@any_selection
@given(data=st.data(), number=st.integers(1, 5))
def test_any_partitions_have_equal_size(rows, data, number):
    drawn = data.draw(selections(rows))
    everything = sorted(drawn.ids(drawn.count(), 0))

    firsts = collection.partition(drawn.selection, number, smallest=3)

    assert firsts == everything[:: max(-(-len(everything) // number), 3)]


@any_selection
@given(data=st.data(), cut=CUTS, few=FEW)
def test_any_statement_is_planned_by_indexes_and_without_workers(rows, data, cut, few):
    """With parallel workers that cost nothing, as for large tables. The hierarchy of organizations is small, so its
    subqueries in policies may be planned with workers."""
    with patch.object(relationships, "_FEW", few):
        selection = data.draw(selections(rows)).selection
    chosen = plan.plan(selection)
    statement = page_sql(selection, chosen, *cut, bytes_at_once=1000)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0")
        cursor.execute("SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL min_parallel_index_scan_size = 0")

    lines = explained(statement, selection.using, chosen.hides_values)

    assert [line for line in lines if "Seq Scan on document" in line] == []
    is_for_filters_alone = all(predicate.alone is None for predicate in selection.predicates)
    if is_for_filters_alone and chosen.way is not Way.IN_ORDER:
        assert [line for line in lines if "Gather" in line] == []


@any_selection
@given(data=st.data(), numbers=st.lists(st.integers(1, 20_000), max_size=5))
def test_the_rest_of_any_page_is_planned_by_its_rows(rows, data, numbers):
    selection = data.draw(selections(rows)).selection

    lines = explained(rest_sql(selection, numbers, 1000), selection.using, hides_values=False)

    assert [line for line in lines if "Seq Scan on document" in line] == []


def explained(statement, using, hides_values) -> list[str]:
    rows = execute("EXPLAIN (COSTS OFF) " + statement, using, hides_values=hides_values)
    return [line for (line,) in rows]
