"""The versions of people that a client reads: those since its relationship with them began."""

from typing import Any

import orjson
import pytest

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from tests.conftest import ApiTestClient, new_token
from tests.core.security.strategies.scenario import Scenario
from tests.features.changes.history.versions import history

PAST = "RelationshipsWithEdOrgsAndPeopleIncludingDeletes"


@pytest.fixture
def scenario(api, documents) -> Scenario:
    """Districts 1 and 2 with schools 11 and 21."""
    found = Scenario(api, documents)
    for district, school in ((1, 11), (2, 21)):
        found.district(district)
        found.school(school, district)
    return found


@pytest.fixture
def reader():
    """Makes a client of a district that may read everything that it reaches, and its changes."""

    def client(district: int) -> ApiTestClient:
        strategies = {"Read": ["RelationshipsWithEdOrgsAndPeople"], "ReadChanges": [PAST]}
        grant = {"claims": ["domains/everything"], "actions": list(strategies), "strategies": strategies}
        load(read_claims(orjson.dumps({"claimSets": [{"name": "Readers", "grants": [grant]}]})), by="tests")
        return ApiTestClient(new_token(f"reader {district}", "Readers", education_organization_ids=[district]))

    return client


def rename(scenario: Scenario, path: str, **members: Any) -> None:
    body = {name: value for name, value in scenario.api.get(path).json().items() if not name.startswith("_")}
    assert scenario.api.put(path, body | members).status_code == 204


def names(client: ApiTestClient, path: str, query: str = "") -> list[str | None]:
    return [each.get("body", {}).get("firstName") for each in history(client, path, query)]


@pytest.fixture
def moved(scenario: Scenario) -> str:
    """A student who was enrolled in district 1, renamed there twice, moved to district 2, and was renamed again."""
    path = scenario.student("S")
    rename(scenario, path, firstName="Before")
    enrollment = scenario.enroll("S", 11)
    rename(scenario, path, firstName="Old address")
    rename(scenario, path, firstName="When moving")
    scenario.enroll("S", 21)
    rename(scenario, path, firstName="New address")
    scenario.api.delete(enrollment)
    rename(scenario, path, firstName="Later")
    return path


def test_the_new_school_reads_no_version_from_before_the_move(moved, reader):
    found = history(reader(2), moved)

    assert [each["body"]["firstName"] for each in found] == ["Later", "New address", "When moving"]
    assert "changes" not in found[2]
    assert b"Old address" not in orjson.dumps(found)
    assert reader(1).get(moved.replace("/data/", "/history/v1/")).status_code == 403


def test_pages_leave_out_the_same(moved, reader):
    client = reader(2)
    response = client.get(moved.replace("/data/", "/history/v1/") + "?limit=2")
    rest = names(client, moved, f"?beforeChangeVersion={response['Next-Change-Version']}")

    assert [each["body"]["firstName"] for each in response.json()] == ["Later", "New address"]
    assert rest == ["When moving"]


def test_a_setting_shows_all_versions(moved, reader, settings):
    settings.EDFI_API = {**settings.EDFI_API, "HISTORY_BEFORE_RELATIONSHIP": True}

    assert len(history(reader(2), moved)) == 6


def test_whoever_comes_back_reads_what_was_at_its_times(scenario, reader):
    path = scenario.student("S")
    first = scenario.enroll("S", 21)
    rename(scenario, path, firstName="First time")
    scenario.enroll("S", 11)
    scenario.api.delete(first)
    rename(scenario, path, firstName="Elsewhere")
    rename(scenario, path, firstName="Elsewhere still")
    scenario.enroll("S", 21)

    assert names(reader(2), path)[:2] == ["Elsewhere still", "First time"]


def test_an_enrollment_that_is_changed_began_when_it_was_created(scenario, reader):
    path = scenario.student("S")
    enrollment = scenario.enroll("S", 21)
    rename(scenario, path, firstName="Enrolled")
    rename(scenario, enrollment, exitWithdrawDate="2026-06-30")
    rename(scenario, path, firstName="Withdrawn")

    assert names(reader(2), path)[:2] == ["Withdrawn", "Enrolled"]


def test_an_enrollment_whose_key_is_changed_begins_anew_at_the_other_school(scenario, reader):
    path = scenario.student("S")
    enrollment = scenario.enroll("S", 11)
    rename(scenario, path, firstName="Old address")
    rename(scenario, path, firstName="When moving")
    rename(scenario, enrollment, schoolReference={"schoolId": 21})
    rename(scenario, enrollment, entryDate="2025-08-08")
    rename(scenario, path, firstName="New address")

    assert names(reader(2), path) == ["New address", "When moving"]


def test_a_contact_is_read_since_both_associations_exist(scenario, reader):
    path = scenario.contact("C")
    scenario.student("S")
    scenario.relate("S", "C")
    rename(scenario, path, firstName="Old address")
    rename(scenario, path, firstName="When moving")
    scenario.enroll("S", 21)
    rename(scenario, path, firstName="New address")

    assert names(reader(2), path) == ["New address", "When moving"]


def test_staff_are_read_since_their_employment(scenario, reader):
    path = scenario.staff("T")
    rename(scenario, path, firstName="Before")
    rename(scenario, path, firstName="When employed")
    scenario.employ("T", 21)

    assert names(reader(2), path) == ["When employed"]


def test_a_delete_is_told_to_whoever_read_what_was_deleted(scenario, reader):
    path = scenario.student("S")
    enrollment = scenario.enroll("S", 21)
    scenario.api.delete(enrollment)
    assert scenario.api.delete(path).status_code == 204

    assert [each["operation"] for each in history(reader(2), path)] == ["delete", "insert"]
    assert reader(1).get(path.replace("/data/", "/history/v1/")).status_code == 404
