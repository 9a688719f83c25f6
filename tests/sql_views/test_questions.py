"""The questions of the page for analysts, asked of a school whose documents are known."""

import re
from pathlib import Path

import pytest
from django.db import connection, transaction

from edfi_api.sql_views.views import View
from tests.seeding.seed import seed
from tests.sql_views.running import query

pytestmark = pytest.mark.django_db

PAGE = Path(__file__).parents[2] / "meadowlark/docs/use/sql-for-analysts.md"
QUESTIONS = re.findall(r"^(.+\?)\n\n```sql\n([^`]*)```", PAGE.read_text(), re.MULTILINE)
GRADES = ["Eleventh grade", "Ninth grade", "Tenth grade", "Twelfth grade"]
SCHOOL = 770_000_001


@pytest.fixture(scope="module")
def school(current_views, django_db_blocker):
    """A school with 200 students, each absent on 9 of 80 days, and 20 sections."""
    with django_db_blocker.unblock(), transaction.atomic():
        seed(1, processes=0)
        create_views(current_views.views)
        yield
        transaction.set_rollback(True)


BEGINNINGS = ("student", "school", "session", "section", "staffsection", "grade", "course", "descriptor")


def create_views(views: list[View]) -> None:
    """The views whose names begin so, and those that `educationorganization…` begins, without their comments."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA edfi; CREATE SCHEMA auth")
        for view in views:
            if view.name.startswith((*BEGINNINGS, "educationorganization")):
                cursor.execute(f"CREATE VIEW {view} AS {view.select}")


def answer(words: str) -> list[tuple]:
    """The rows of the question with these words."""
    (statement,) = (statement for question, statement in QUESTIONS if words in question)
    return query(statement)


def test_there_are_five_questions() -> None:
    assert len(QUESTIONS) == 5


def test_enrollment_by_school_and_grade(school) -> None:
    assert answer("enrolled, by school and grade") == [("School 1", grade, 50) for grade in GRADES]


def test_average_daily_attendance(school) -> None:
    assert [(*row[:3], float(row[3])) for row in answer("average daily attendance")] == [(SCHOOL, "Fall", 200, 177.5)]


def test_students_without_demographic_data(school) -> None:
    rows = answer("no demographic data")

    assert len(rows) == 200
    assert rows[0] == (f"{SCHOOL}0000", "Last0", "First0", SCHOOL)


def test_sections_without_staff(school) -> None:
    rows = answer("sections have no staff")

    assert len(rows) == 20
    assert rows[0] == (SCHOOL, "Fall", "C0", "S0")


def test_grades_by_course(school) -> None:
    assert answer("grades were given in each course") == []


@pytest.mark.parametrize(
    ("view", "rows"),
    [
        # The school and its agency, each itself and the agency above the school.
        ("educationorganizationidtoeducationorganizationid", 3),
        ("educationorganizationidtostudentusi", 400),
        ("educationorganizationidtocontactusi", 400),
        ("educationorganizationidtostaffusi", 0),
        ("educationorganizationidtostudentusithroughresponsibility", 0),
    ],
)
def test_who_is_below_which_organization(school, view: str, rows: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*), count(DISTINCT sourceeducationorganizationid) FROM auth.{view}")

        assert cursor.fetchone() == (rows, 2 if rows else 0)
