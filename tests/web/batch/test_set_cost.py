"""What batches cost: a set with its rows, not with their square, and a batch of one what the single request costs."""

import json

import pytest
from django.test.utils import CaptureQueriesContext

from edfi_api.core.storage.driver import execution
from tests.support.databases import connection
from tests.support.plans import begin_with_new_tables, most_rows
from tests.web.batch.generated import start
from tests.web.batch.operations import enrolment, student

ROWS = 400


@pytest.fixture
def plans(monkeypatch):
    """The plans of the statements that write sets, as they are executed."""
    run, found = execution.run, []

    def explained(statement, connection, *arguments):
        if "jsonb_to_recordset" not in statement.text:
            return run(statement, connection, *arguments)
        connection.execute("SAVEPOINT before")
        text = b"EXPLAIN (ANALYZE, FORMAT JSON, TIMING OFF) " + statement.compiled.sql
        explained = connection.pgconn.exec_params(text, statement.values)
        found.append(json.loads(explained.get_value(0, 0))[0]["Plan"])
        connection.execute("ROLLBACK TO SAVEPOINT before")
        return run(statement, connection, *arguments)

    monkeypatch.setattr(execution, "run", explained)
    return found


@pytest.mark.parametrize("statistics", ["", "ANALYZE document, alias"], ids=["no statistics", "statistics"])
def test_no_node_of_a_plan_compares_each_row_with_each(batch, plans, statistics):
    begin_with_new_tables()
    batch.results(start())
    plans.clear()
    students = [student(number) for number in range(1000, 1000 + ROWS)]
    enrolments = [enrolment(number) for number in range(1000, 1000 + ROWS)]
    changes = [enrolment(number, repeatGradeIndicator=True) for number in range(1000, 1000 + ROWS)]

    for sent in (students, enrolments, changes, changes):
        batch.results(sent, mode="independent")
        if statistics:
            with connection.cursor() as cursor:
                cursor.execute(statistics)

    # After new documents, the first changes are sent to the statement for new ones, too.
    assert len(plans) == 5
    assert [most_rows(plan) < 20 * ROWS for plan in plans] == [True] * 5


@pytest.fixture
def statements(monkeypatch):
    """Counts the statements of a request, those that manage transactions included."""
    run, found = execution.run, []
    monkeypatch.setattr(execution, "run", lambda statement, *rest: found.append(statement) or run(statement, *rest))

    def count(send):
        found.clear()
        with CaptureQueriesContext(connection) as others:
            assert send().status_code in (200, 201)
        return len(found) + len(others)

    return count


def test_a_batch_of_one_takes_the_statements_of_the_single_request(batch, statements):
    batch.results(start())
    batch.api.post("/data/ed-fi/students", student(9)["document"])

    alone = statements(lambda: batch.api.post("/data/ed-fi/students", student(10)["document"]))
    of_batches = [
        statements(lambda mode=mode, number=number: batch.send([student(number)], mode=mode))
        for number, mode in enumerate(("atomic", "independent"), 11)
    ]

    assert of_batches == [alone, alone]
