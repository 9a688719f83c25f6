"""Indexes of values, which operators create for comparisons, prefixes and orders."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connections

from edfi_api.core.storage.database_state import forget
from tests.support.factories import DOCUMENTS, STUDENT
from tests.web.viewsets.students import unique_ids

pytestmark = [pytest.mark.usefixtures("transactional_db")]


@pytest.fixture
def students(api, settings):
    settings.EDFI_API = {**settings.EDFI_API, "MAX_ROWS_WITHOUT_INDEX": 0}
    for number, surname, born in (("1", "Ortiz", "2010-02-03"), ("2", "Ord", "2009-12-31"), ("3", "Lee", "2009-01-01")):
        body = STUDENT | {"studentUniqueId": number, "lastSurname": surname, "birthDate": born}
        assert api.post("/students", body).status_code == 201
    yield
    for line in indexes().splitlines():
        call("drop_query_index", line.partition(": ")[2].partition(",")[0])


def call(command, *arguments):
    output = StringIO()
    call_command(command, *arguments, database=DOCUMENTS, stdout=output)
    forget()
    return output.getvalue()


def indexes():
    return call("list_query_indexes")


@pytest.mark.parametrize(
    ("index", "query", "found"),
    [
        ("students.birthDate", "birthDate[lt]=2010-01-01", ["2", "3"]),
        ("ed-fi/students.birthdate", "birthDate[ne]=2009-01-01", ["1", "2"]),
        ("students.birthDate", "orderBy=birthDate", ["3", "2", "1"]),
        ("students.birthDate", "orderBy=-birthDate", ["1", "2", "3"]),
        ("students.lastSurname[prefix]", "lastSurname[prefix]=or", ["1", "2"]),
        ("students.lastSurname,-birthDate", "orderBy=-lastSurname,birthDate", ["1", "2", "3"]),
        ("students.birthDate", "birthDate[gte]=2009-06-01&firstName=Mae&orderBy=birthDate", ["2", "1"]),
    ],
)
def test_an_index_answers_what_its_refusal_named(api, students, index, query, found):
    assert api.get(f"/students?{query}").status_code == 400

    assert "is created" in call("create_query_index", index)

    assert unique_ids(api.get(f"/students?{query}")) == found
    assert "is there" in call("create_query_index", index)
    assert indexes().startswith(f"{index}: query_index_")
    call("drop_query_index", index)
    assert api.get(f"/students?{query}").status_code == 400
    assert indexes() == ""


def test_what_an_interrupted_build_left_is_not_used_and_is_replaced(api, students):
    call("create_query_index", "students.birthDate")
    name = indexes().partition(": ")[2].partition(",")[0]
    call("drop_query_index", name)
    with connections[DOCUMENTS].cursor() as cursor, pytest.raises(IntegrityError):
        cursor.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON document ((true))")

    assert "its creation was interrupted" in indexes()
    assert api.get("/students?birthDate[gte]=2010-01-01").status_code == 400
    assert "is created" in call("create_query_index", "students.birthDate")
    assert unique_ids(api.get("/students?birthDate[gte]=2010-01-01")) == ["1"]


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        ("pupils.birthDate", "no resource is 'pupils'."),
        ("students.colour", "ed-fi/students has no query field 'colour'."),
        ("students.id", "ed-fi/students has no query field 'id'."),
        ("students.birthDate[prefix]", "birthDate is no text, so it has no prefixes."),
        ("students.birthDate,birthDate", "OrderBy must have query fields, once each; 'birthDate' is not one.."),
        ("birthDate", "no resource is ''."),
    ],
)
def test_an_index_that_cannot_be_is_refused(api, index, reason):
    with pytest.raises(CommandError) as refused:
        call("create_query_index", index)

    assert str(refused.value) == reason


def test_a_value_that_may_be_too_long_for_an_index_is_refused(api):
    """PostgreSQL would refuse documents with it."""
    with pytest.raises(CommandError, match="characters; an index holds 600"):
        call("create_query_index", "courses.courseDescription")
