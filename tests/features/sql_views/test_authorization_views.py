"""Who is below which organization, of a school whose documents are known."""

import pytest
from django.db import connection, transaction

from edfi_api.features.sql_views.views import View
from tests.tools.seeding.seed import seed

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def school(current_views, django_db_blocker):
    """A school with 200 students."""
    with django_db_blocker.unblock(), transaction.atomic():
        seed(1, processes=0)
        create_views(current_views.views)
        yield
        transaction.set_rollback(True)


def create_views(views: list[View]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA auth")
        for view in views:
            if view.schema == "auth":
                cursor.execute(f"CREATE VIEW {view} AS {view.select}")


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
