"""What a batch costs grows with its rows, not with their square, whatever statistics there are of the documents."""

import pytest

from edfi_api.core.storage.sets import staging
from edfi_api.features.loading.bulk import write_documents
from tests.support.databases import connection
from tests.support.plans import begin_with_new_tables, most_rows

ROWS = 2000


@pytest.fixture
def plans(db, monkeypatch):
    """The plans of the statements that write batches, as they are executed."""
    run, found = staging._run, []

    def explained(cursor, statement, parameters=None):
        if "INSERT INTO document" not in statement:
            return run(cursor, statement, parameters)
        run(cursor, "SAVEPOINT before")
        [(rows,)] = run(cursor, f"EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) {statement}", parameters).fetchall()
        found.append(rows[0]["Plan"])
        run(cursor, "ROLLBACK TO SAVEPOINT before")
        return run(cursor, statement, parameters)

    monkeypatch.setattr(staging, "_run", explained)
    return found


# The more a row of the table costs, the less PostgreSQL distinguishes the ways to join it with the rest.
IN_A_LARGE_TABLE = "ANALYZE document, alias; SET LOCAL random_page_cost TO 8"


@pytest.mark.parametrize(
    ("others", "statistics"),
    [(0, ""), (0, "ANALYZE document, alias"), (10_000, IN_A_LARGE_TABLE)],
    ids=["never analyzed", "analyzed", "large"],
)
def test_no_node_of_a_plan_compares_each_row_with_each(district, plans, others, statistics):
    begin_with_new_tables()
    list(write_documents([*district.descriptors(), district.school(1)]))
    list(write_documents(district.period(f"other {number}") for number in range(others)))
    new = [district.period(f"period {number}") for number in range(ROWS)]
    changed = [district.period(f"period {number}", officialAttendancePeriod=True) for number in range(ROWS)]
    plans.clear()

    for candidates in (new, new, changed):
        list(write_documents(candidates))
        if statistics:
            with connection.cursor() as cursor:
                cursor.execute(statistics)

    assert [most_rows(plan) < 20 * ROWS for plan in plans] == [True] * 3
