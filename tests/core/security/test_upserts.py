"""POST on a document that exists is authorized as Create or, by a setting, as Update."""

from typing import Any

import orjson
import pytest
from django.core.management import call_command

from edfi_api.common.conf import api_settings
from edfi_api.core.models import Document
from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from tests.conftest import ApiTestClient
from tests.core.security.strategies.scenario import EO, EOP, NFA, Scenario


@pytest.fixture
def scenario(api, documents):
    found = Scenario(api, documents)
    found.district(1)
    found.school(11, 1)
    found.district(2)
    found.school(21, 2)
    return found


@pytest.fixture
def _upserts_require_update(settings):
    settings.EDFI_API = {**settings.EDFI_API, "UPSERT_ASKS_UPDATE": True}
    yield
    api_settings.reload()


def client(scenario: Scenario, *organizations: int, **strategies: list[str]) -> ApiTestClient:
    """A client whose claim set grants these actions on all resources by these strategies."""
    grant = {"claims": ["domains/everything"], "actions": list(strategies), "strategies": strategies}
    name = " ".join(f"{action} by {names}" for action, names in strategies.items())
    load(read_claims(orjson.dumps({"claimSets": [{"name": name, "grants": [grant]}]})), by="tests")
    return scenario.client(name, *organizations)


def first_name(scenario: Scenario, path: str) -> str:
    return scenario.api.get(path).json()["firstName"]


def test_create_permission_for_people_allows_overwriting_them(scenario):
    """As by Ed-Fi's Data Management Service."""
    path = scenario.student("S")
    vendor = scenario.client("SISVendor", 1)

    assert vendor.post("/students", scenario.body("Student", studentUniqueId="S", firstName="Other")).status_code == 200
    assert vendor.put(path, scenario.body("Student", studentUniqueId="S", id=path.rsplit("/", 1)[1])).status_code == 403
    assert first_name(scenario, path) == "Other"


@pytest.mark.usefixtures("_upserts_require_update")
class TestUpsertsThatRequireUpdate:
    def test_people_of_others_cannot_be_overwritten(self, scenario):
        path = scenario.student("S")
        before = first_name(scenario, path)
        scenario.enroll("S", 21)
        vendor = scenario.client("SISVendor", 1)

        response = vendor.post("/students", scenario.body("Student", studentUniqueId="S", firstName="Other"))

        assert response.status_code == 403
        assert response.json()["errors"] == [
            "No relationships have been established between the caller's education organization id claim ('1') and the "
            "resource item's 'StudentUniqueId' value."
        ]
        assert first_name(scenario, path) == before
        # Nor compared with the stored body.
        assert vendor.post("/students", scenario.body("Student", studentUniqueId="S")).status_code == 403

    def test_own_people_can_be_created_and_replaced(self, scenario):
        vendor = scenario.client("SISVendor", 1)
        body = scenario.body("Student", studentUniqueId="S")

        assert vendor.post("/students", body).status_code == 201
        scenario.enroll("S", 11)
        assert vendor.post("/students", body | {"firstName": "May"}).status_code == 200
        assert vendor.post("/students", body | {"firstName": "May"}).status_code == 200

    def test_proposed_values_are_authorized_by_the_actual_action(self, scenario):
        """A POST cannot change the key of a calendar, so stored and proposed school are the same."""
        updates_own = client(scenario, 1, Create=[NFA], Update=[EO])
        creates_own = client(scenario, 1, Create=[EO], Update=[NFA])
        stored = scenario.body("Calendar", calendarCode="C", schoolReference={"schoolId": 21})
        new = stored | {"calendarCode": "D"}
        scenario.calendar("C", 21)

        assert updates_own.post("/calendars", stored).status_code == 403
        assert updates_own.post("/calendars", new).status_code == 201
        assert creates_own.post("/calendars", stored).status_code == 200
        assert creates_own.post("/calendars", stored | {"calendarCode": "E"}).status_code == 403

    def test_the_actual_action_must_be_granted(self, scenario):
        creates, updates = client(scenario, Create=[NFA]), client(scenario, Update=[NFA])
        reads = client(scenario, Read=[NFA])
        scenario.student("S")
        stored, new = (scenario.body("Student", studentUniqueId=name) for name in ("S", "N"))

        assert denied_action(creates.post("/students", stored | {"firstName": "Other"})) == "Update"
        assert creates.post("/students", new).status_code == 201
        assert updates.post("/students", stored | {"firstName": "Other"}).status_code == 200
        assert denied_action(updates.post("/students", new | {"studentUniqueId": "M"})) == "Create"
        assert denied_action(reads.post("/students", stored)) == denied_action(reads.post("/students", new)) == "Create"

    def test_the_denial_is_reported_before_other_errors(self, scenario):
        creates = client(scenario, 1, Create=[NFA], Update=[EOP])
        scenario.student("S")
        stored = scenario.body("Student", studentUniqueId="S")

        stale = creates.post("/students", stored | {"firstName": "Other"}, HTTP_IF_MATCH='"1"')

        assert stale.status_code == 403

    def test_loads_are_not_authorized(self, scenario, tmp_path):
        scenario.student("S")
        file = tmp_path / "students.jsonl"
        file.write_bytes(orjson.dumps(scenario.body("Student", studentUniqueId="S", firstName="Loaded")))

        call_command("load_documents", str(file), verbosity=0)

        assert Document.objects.get(resource_type__name="Student").body["firstName"] == "Loaded"


def denied_action(response: Any) -> str:
    assert response.status_code == 403, response.content
    problem = response.json()
    assert problem["type"] == "urn:ed-fi:api:security:authorization:access-denied:action"
    return problem["errors"][0].partition("permission of the '")[2].partition("'")[0]
