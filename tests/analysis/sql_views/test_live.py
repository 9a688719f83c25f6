"""The views show every write at once: over HTTP in, through the views out."""

import pytest
from django.db import connection

from tests.conftest import item_path

VIEWS = ("classperiod", "bellscheduleclassperiod", "descriptor")


@pytest.fixture
def query(api, current_views):
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA edfi")
        for view in current_views.views:
            if view.schema == "edfi" and view.name in VIEWS:
                cursor.execute(f"CREATE VIEW {view} AS {view.select}")

        def rows(statement: str) -> list[tuple]:
            cursor.execute(statement)
            return cursor.fetchall()

        yield rows


@pytest.fixture
def school(api, documents, resource_named) -> dict:
    """A reference to a stored school."""
    documents.store(resource_named("School"))
    return {"schoolReference": {"schoolId": documents.minimal_body(resource_named("School"))["schoolId"]}}


def test_a_row_appears_changes_and_goes_with_its_document(api, query, school):
    periods = (
        "SELECT schoolid, classperiodname, officialattendanceperiod, id::text, changeversion FROM edfi.classperiod"
    )
    created = api.post("/classPeriods", {"classPeriodName": "First", **school})
    path = item_path(created)
    id_ = path.rsplit("/", 1)[1]

    ((school_id, name, official, shown_id, version),) = query(periods)
    api.put(path, {"id": id_, "classPeriodName": "First", "officialAttendancePeriod": True, **school})
    (changed,) = query(periods)
    api.delete(path)

    assert (school_id, name, official, shown_id) == (school["schoolReference"]["schoolId"], "First", None, id_)
    assert changed[:4] == (school_id, "First", True, id_)
    assert changed[4] > version
    assert query(periods) == []


def test_a_changed_key_is_shown_in_the_rows_of_referrers(api, query, school):
    created = api.post("/classPeriods", {"classPeriodName": "First", **school})
    reference = {"classPeriodName": "First", "schoolId": school["schoolReference"]["schoolId"]}
    schedule = {"bellScheduleName": "Daily", "classPeriods": [{"classPeriodReference": reference}], **school}
    assert api.post("/bellSchedules", schedule).status_code == 201

    path = item_path(created)
    moved = api.put(path, {"id": path.rsplit("/", 1)[1], "classPeriodName": "Second", **school})

    assert moved.status_code == 204
    assert query("SELECT bellschedulename, classperiodname FROM edfi.bellscheduleclassperiod") == [("Daily", "Second")]


def test_descriptors_have_their_type_and_their_uri(api, query):
    body = {
        "namespace": "uri://lark.org/GradeLevelDescriptor",
        "codeValue": "Ninth",
        "shortDescription": "9th",
        "effectiveBeginDate": "2025-07-01",
    }
    api.post("/gradeLevelDescriptors", body)

    statement = (
        "SELECT namespace, codevalue, shortdescription, description, effectivebegindate::text, discriminator, uri"
    )
    assert query(f"{statement} FROM edfi.descriptor") == [
        (
            "uri://lark.org/GradeLevelDescriptor",
            "Ninth",
            "9th",
            None,
            "2025-07-01",
            "edfi.GradeLevelDescriptor",
            "uri://lark.org/GradeLevelDescriptor#Ninth",
        )
    ]
