"""An upsert does the same whatever the outcomes of the two upserts before, which decide about its first statement."""

from typing import Any

import pytest

from tests.conftest import ApiTestClient


@pytest.fixture(params=["insert", "update", "repetition"])
def school(request, small_school):
    """Has a schedule, `S1`, and the last two upserts of schedules had this outcome."""
    for name in ("P1", "P2", "P3"):
        small_school.post_period(name)
    for name in ("S1", "other"):
        small_school.post_schedule(name, "P1", "P2")
    if request.param != "insert":
        for minutes in (1, 2) if request.param == "update" else (1, 1, 1):
            answer = small_school.post_schedule("other", "P1", "P2", totalInstructionalTime=minutes)
            assert answer.status_code == 200
    return small_school


def periods_of_links(api: ApiTestClient, schedule: dict[str, Any]) -> list[str]:
    """The names of the class periods to which the links of a schedule lead."""
    links = [period["classPeriodReference"]["link"]["href"] for period in schedule["classPeriods"]]
    return [api.get(f"/data{link}").json()["classPeriodName"] for link in links]


@pytest.mark.parametrize(
    ("periods", "minutes"),
    [(("P1", "P2"), 7), (("P1",), 7), (("P1", "P2", "P3"), None), (("P2", "P1"), None), (("P2", "P3"), 8), ((), 9)],
    ids=str,
)
def test_a_change_is_stored_with_its_references_and_links(school, periods, minutes):
    before = school.api.get("/bellSchedules?bellScheduleName=S1").json()[0]
    changes = {} if minutes is None else {"totalInstructionalTime": minutes}

    answer = school.post_schedule("S1", *periods, **changes)

    [after] = school.api.get("/bellSchedules?bellScheduleName=S1").json()
    assert answer.status_code == (200 if periods else 400)
    if periods:
        assert after["id"] == before["id"]
        assert after["_etag"] != before["_etag"]
        assert after.get("totalInstructionalTime") == minutes
        assert periods_of_links(school.api, after) == list(periods)
    else:
        assert after == before


def test_a_new_schedule_is_created(school):
    assert school.post_schedule("S2", "P3", "P1").status_code == 201

    [created] = school.api.get("/bellSchedules?bellScheduleName=S2").json()
    assert periods_of_links(school.api, created) == ["P3", "P1"]


def test_a_repetition_keeps_the_etag(school):
    [before] = school.api.get("/bellSchedules?bellScheduleName=S1").json()

    answer = school.post_schedule("S1", "P1", "P2")

    assert answer.status_code == 200
    assert school.api.get("/bellSchedules?bellScheduleName=S1").json() == [before]


@pytest.mark.parametrize("name", ["S1", "S2"])
def test_a_reference_without_a_target_is_refused(school, name):
    before = school.api.get("/bellSchedules").json()

    answer = school.post_schedule(name, "P1", "gone")

    assert answer.status_code == 409
    assert "ClassPeriod" in str(answer.json()["validationErrors"])
    assert school.api.get("/bellSchedules").json() == before


def test_a_period_that_is_no_longer_referred_to_can_be_deleted(school):
    path = school.api.get("/classPeriods?classPeriodName=P2").json()[0]["id"]
    school.post_schedule("other", "P1")

    assert school.api.delete(f"/classPeriods/{path}").status_code == 409
    assert school.post_schedule("S1", "P1").status_code == 200
    assert school.api.delete(f"/classPeriods/{path}").status_code == 204
