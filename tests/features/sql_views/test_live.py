"""The views show every write at once: over HTTP in, through the views out."""

import random
from collections import Counter

import pytest
from django.db import connection

from edfi_api.features.changes.change_queries.restoring import restore
from edfi_api.features.loading.bulk import Candidate, bulk_writer
from tests.conftest import item_path

VIEWS = ("classperiod", "classperiodmeetingtime", "bellscheduleclassperiod", "descriptor")


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


def test_after_any_writes_in_any_order_the_views_show_what_the_api_lists(api, query, school, resource_named) -> None:
    choice = random.Random(11)  # noqa: S311  for tests
    school_id = school["schoolReference"]["schoolId"]
    paths, deleted, done = {}, [], Counter()

    def period(name: str) -> dict:
        times = [{"startTime": f"0{n}:00:00", "endTime": f"0{n}:30:00"} for n in range(choice.randint(0, 3))]
        return {"classPeriodName": name, **school, **({"meetingTimes": times} if times else {})}

    def schedule(*names: str) -> dict:
        references = [{"classPeriodReference": {"classPeriodName": each, "schoolId": school_id}} for each in names]
        return {"bellScheduleName": "Daily", "classPeriods": references, **school}

    def load(body: dict) -> None:
        with bulk_writer(processes=0) as writer:
            list(writer.write([Candidate.of(resource_named("ClassPeriod"), body, "a test")]))

    def compare() -> None:
        listed = api.get("/classPeriods?limit=500").json()
        expected = sorted((each["classPeriodName"], each["id"], len(each.get("meetingTimes", ()))) for each in listed)
        assert (
            query(
                "SELECT c.classperiodname, c.id::text, count(t.starttime) FROM edfi.classperiod c"
                " LEFT JOIN edfi.classperiodmeetingtime t USING (schoolid, classperiodname) GROUP BY 1, 2 ORDER BY 1, 2"
            )
            == expected
        )
        (daily,) = api.get("/bellSchedules").json() or [{"classPeriods": []}]
        named = sorted(each["classPeriodReference"]["classPeriodName"] for each in daily["classPeriods"])
        shown = query("SELECT classperiodname FROM edfi.bellscheduleclassperiod ORDER BY 1")
        assert [name for (name,) in shown] == named

    for number in range(40):
        action = choice.choice(["post", "load", "schedule", "rename", "change", "delete", "restore"])
        name = choice.choice(sorted(paths)) if paths else ""
        match action:
            case "post":
                paths[f"P{number}"] = item_path(api.post("/classPeriods", period(f"P{number}")))
            case "load":
                load(period(f"L{number}"))
                (loaded,) = api.get(f"/classPeriods?classPeriodName=L{number}").json()
                paths[f"L{number}"] = f"/classPeriods/{loaded['id']}"
            case "schedule" if name:
                assert api.post("/bellSchedules", schedule(name)).status_code in (200, 201)
            case "rename" | "change" if name:
                new = f"R{number}" if action == "rename" else name
                paths[new] = paths.pop(name)
                body = {"id": paths[new].rsplit("/", 1)[1], **period(new)}
                assert api.put(paths[new], body).status_code == 204
            case "delete" if name and api.delete(paths[name]).status_code == 204:
                deleted.append((name, paths.pop(name)))
            case "restore" if deleted:
                name, paths[name] = deleted.pop()
                restore(paths[name].rsplit("/", 1)[1])
            case _:
                continue
        done[action] += 1
        compare()

    assert set(done) == {"post", "load", "schedule", "rename", "change", "delete", "restore"}
