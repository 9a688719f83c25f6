"""Plans of queries over the views, of many documents: lookups and counts by index, nothing that is not asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.db import connection, transaction

from edfi_api.features.sql_views import indexes
from tests.features.sql_views.clones import RESOURCES, clone
from tests.support import superuser

pytestmark = pytest.mark.django_db

SCHOOL = 770_000_002
MEMBER = re.compile(r"->>? '(\w+)'")
GATHERED = "jsonb_object_agg"
ITEMS = "jsonb_array_elements"


@pytest.fixture(scope="module", params=[20_000, pytest.param(200_000, marks=pytest.mark.long)])
def views(current_views, documents, resource_named, request, django_db_blocker) -> Iterator[list]:
    """The views of the configured standard, without comments, over this number of documents."""
    with django_db_blocker.unblock(), transaction.atomic():
        for name in RESOURCES:
            documents.store(resource_named(name))
        with connection.cursor() as cursor:
            superuser.let_skip_triggers()
            clone(cursor, enrollments=int(request.param / 2.2), schools=100)
            for statement in indexes.of_people("default", are_viewed=True):
                cursor.execute(statement)
            cursor.execute("ANALYZE document")
            # As after VACUUM, which no transaction may run.
            superuser.execute("UPDATE pg_class SET relallvisible = relpages WHERE oid = 'document'::regclass")
            cursor.execute("CREATE SCHEMA edfi; CREATE SCHEMA edfi_text; CREATE SCHEMA auth")
            for view in current_views.views:
                cursor.execute(f"CREATE VIEW {view} AS {view.select}")
        yield current_views.views
        transaction.set_rollback(True)


def plan(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {statement}")
        return "\n".join(line for (line,) in cursor.fetchall())


@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("edfi.student WHERE studentusi = 1", "document_usi"),
        ("edfi.student WHERE studentuniqueid = 'B7'", "document_person"),
        (f"edfi.school WHERE schoolid = {SCHOOL}", "document_of_organization"),
        (f"edfi.educationorganization WHERE educationorganizationid = {SCHOOL}", "document_of_organization"),
        (f"edfi.studentschoolassociation WHERE schoolid = {SCHOOL}", "document_organization"),
        (f"edfi.studentschoolattendanceevent WHERE schoolid = {SCHOOL}", "document_organization"),
    ],
)
def test_lookups_use_an_index(views, condition: str, index: str) -> None:
    found = plan(f"SELECT * FROM {condition}")

    assert re.search(rf"(Scan using|Scan on) {index}\b", found)
    assert "Seq Scan" not in found


def test_one_person_is_expected_for_a_number(views) -> None:
    """Not one in two hundred, by which joins of all people would be planned."""
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (FORMAT JSON) SELECT studentuniqueid FROM edfi.student WHERE studentusi = 7")
        ((plans,),) = cursor.fetchall()

    assert plans[0]["Plan"]["Plan Rows"] == 1


def test_enrollments_of_a_student_are_found_by_the_student(views) -> None:
    found = plan("SELECT * FROM edfi.studentschoolassociation WHERE studentusi = 7")

    assert "using document_usi" in found
    assert "using document_student" in found


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM edfi.studentschoolassociation",
        "SELECT count(DISTINCT studentusi) FROM edfi.studentschoolassociation",
        "SELECT schoolid, count(*) FROM edfi.studentschoolassociation GROUP BY 1",
        "SELECT count(s.lastsurname) FROM edfi.student s JOIN edfi.studentschoolassociation e USING (studentusi)",
    ],
)
def test_enrollments_are_counted_and_joined_in_an_index(views, statement: str) -> None:
    assert "Index Only Scan using document_student" in plan(statement)


def test_what_is_not_asked_for_is_not_computed(views) -> None:
    """For each column of each view: a query for it reads the members of its expression, gathers the descriptors of its
    expression, and takes apart no other arrays than any query of the view."""
    wasteful = []
    columns = 0
    for view in views:
        rows = plan(f"SELECT 1 FROM {view}")
        of_rows = set(MEMBER.findall(rows))
        # A view with texts has the other columns of that without.
        of_its_own = [each for each in view.columns if not view.texts or each[0] in view.texts]
        for column, expression in of_its_own:
            columns += 1
            found = plan(f"SELECT {column} FROM {view}")
            members = set(MEMBER.findall(found)) - of_rows
            own = set(re.findall(r"->>?'(\w+)'", expression))
            gathered = found.count(GATHERED) > expression.count(GATHERED)
            if not members <= own or gathered or found.count(ITEMS) > rows.count(ITEMS):
                wasteful.append((str(view), column, members - own))

    assert wasteful == []
    assert columns > 4156
