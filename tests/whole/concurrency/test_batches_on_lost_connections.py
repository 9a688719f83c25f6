"""Batches whose database session is terminated before and after each of their statements."""

from itertools import count

import psycopg
import pytest
from django.db import close_old_connections, connection

from edfi_api.core.models import Document
from edfi_api.core.storage.driver import execution
from tests.web.batch.operations import enrolment, period, student


@pytest.fixture
def session(batch, monkeypatch):
    """Ends the session of this thread at statements that it runs."""
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as administrator:
        found = _Session(administrator)
        monkeypatch.setattr(execution, "run", found.run)
        yield found
    connection.close()


class _Session:
    def __init__(self, administrator):
        self._administrator = administrator
        self._run = execution.run
        self.statements = 0
        self._ended: range | tuple[()] = ()
        self._is_executed = False

    def ends_at(self, numbers: range | tuple[()] = (), *, is_executed: bool = False) -> None:
        """Which statements of the next request, from 1 on. `is_executed`: the first of them is executed."""
        self.statements, self._ended, self._is_executed = 0, numbers, is_executed

    def run(self, statement, own, *arguments):
        self.statements += 1
        if self.statements not in self._ended:
            return self._run(statement, own, *arguments)
        is_executed = self._is_executed and self.statements == self._ended[0]
        rows = self._run(statement, own, *arguments) if is_executed else None
        self._administrator.execute("SELECT pg_terminate_backend(%s, 5000)", [own.info.backend_pid])
        return rows if is_executed else self._run(statement, own, *arguments)


def writes(first: int) -> list[dict]:
    """Two sets, and three operations that are carried out alone."""
    change = {"op": "update", "naturalKey": {"studentUniqueId": f"S{first}"}} | student(first, firstName="Ida")
    students = [student(number) for number in range(first, first + 3)]
    return [*students, period(f"P{first}"), *(enrolment(number) for number in range(first, first + 3)), change]


def written(first: int) -> list[str]:
    """The stored documents that are of these operations."""
    close_old_connections()  # What Django does at the end of a request, but not of the test client's.
    people = [f"S{number}" for number in range(first, first + 3)]
    bodies = Document.objects.values_list("resource_type__name", "body").order_by("id")
    return [
        f"{name} {body.get('firstName', '')}".strip()
        for name, body in bodies
        if body.get("studentUniqueId") in people
        or body.get("studentReference", {}).get("studentUniqueId") in people
        or body.get("classPeriodName") == f"P{first}"
    ]


ALL = ["Student Ida", "Student Mae", "Student Mae", "ClassPeriod", *["StudentSchoolAssociation"] * 3]
NUMBERS = count(1000, 10)
is_executed = pytest.mark.parametrize("is_executed", [False, True], ids=["before", "after"])


def number_of_statements(batch, session, **how) -> int:
    session.ends_at()
    batch.results(writes(first := next(NUMBERS)), **how)
    assert written(first) == ALL
    assert session.statements >= 6
    return session.statements


@is_executed
@pytest.mark.parametrize("order", ["given", "free"])
def test_an_atomic_batch_is_written_as_a_whole_or_not_at_all(batch, session, order, is_executed):
    for number in range(1, number_of_statements(batch, session, order=order) + 1):
        session.ends_at(range(number, number + 1), is_executed=is_executed)
        response = batch.send(writes(first := next(NUMBERS)), order=order)
        assert response.status_code in (200, 503), response.content
        assert written(first) == (ALL if response.status_code == 200 else [])

        session.ends_at(range(number, 1_000), is_executed=is_executed)
        assert batch.send(writes(first := next(NUMBERS)), order=order).status_code == 503
        session.ends_at()
        assert written(first) == []


@is_executed
def test_what_an_independent_batch_reports_is_stored(batch, session, monkeypatch, is_executed):
    monkeypatch.setattr(execution, "ATTEMPTS", 1)
    for number in range(1, number_of_statements(batch, session, mode="independent") + 1):
        session.ends_at(range(number, number + 1), is_executed=is_executed)
        results = batch.independent(*writes(first := next(NUMBERS)))
        assert {result["status"] for result in results} <= {200, 201, 204}
        assert written(first) == ALL

        session.ends_at(range(number, 1_000), is_executed=is_executed)
        results = batch.independent(*writes(first := next(NUMBERS)))
        session.ends_at()
        close_old_connections()
        ids = {str(id_) for id_ in Document.objects.values_list("document_uuid", flat=True)}
        assert ids >= {result["id"] for result in results if result["status"] < 300}
        assert {result["status"] for result in results} <= {200, 201, 204, 503}
