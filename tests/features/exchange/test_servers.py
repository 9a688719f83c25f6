"""Pushing from servers to servers, with thousands of changes and kills: `make test-exchange`."""

import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import httpx
import pytest

from tests.features.exchange.random_changes import RandomChanges, enrollment, local_education_agency, school, student
from tests.features.exchange.sides import Side, side

_REQUESTS, _KILLS, _RESTORED = 5_000, 10, 10
_REFUSED = """
SELECT s.remote_id, s.former_ids, s.awaits, s.attempts, d.natural_key
  FROM exchange_sent_document s LEFT JOIN document d USING (document_uuid) WHERE s.refused_at IS NOT NULL
"""
_OPEN = """
SELECT resource, natural_key, operation, problem, title, errors, count
  FROM refusal WHERE direction = 'sent' AND resolved_at IS NULL
"""


pytestmark = pytest.mark.exchange


def _settled(source: Side, seconds: float = 120) -> None:
    """Wait until the follower has sent everything."""
    deadline = time.monotonic() + seconds
    newest = "SELECT newest_change_version(), (SELECT max(change_version) FROM change_consumer)"
    while len(set(source.query(newest)[0])) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.parametrize("batches", ["true", "false"])
def test_a_district_is_the_same_there(prepared_home: Callable[[Path], Path], tmp_path: Path, batches: str) -> None:
    with (
        side(prepared_home(tmp_path / "district")) as district,
        side(prepared_home(tmp_path / "state"), MEADOWLARK_BATCH=batches) as state,
    ):
        district.manage("generate_demo_district", "--output", str(tmp_path / "demo"), "--students", "200")
        district.manage("load_documents", str(tmp_path / "demo"))
        district.connect("state", state, state.new_client("district", "EdFiSandbox"), "--client", "tests")

        said = district.push("state", "--full")

        assert "0 refused" in said
        assert state.documents() == district.documents()


def test_random_changes_arrive_whatever_is_killed(
    prepared_home: Callable[[Path], Path], tmp_path: Path, seed: int
) -> None:
    with side(prepared_home(tmp_path / "district")) as district, side(prepared_home(tmp_path / "state")) as state:
        district.connect("state", state, state.new_client("district", "EdFiSandbox"), "--client", "tests")
        changed = 0
        with district.following("state", tmp_path / "follower.log") as follower, district.client() as client:
            changes = RandomChanges(client, seed)
            kills = cycle(
                [follower.kill, state.kill_workers, district.kill_workers, state.kill_database, district.kill_database]
            )
            for _, kill in zip(range(_KILLS), kills, strict=False):
                with district.restoring(changes.some_deleted(_RESTORED)):
                    changed += changes.make(_REQUESTS // _KILLS)
                kill()
            _settled(district)
        district.push("state", "--retry")

        assert changed > _REQUESTS // 4
        assert district.restored() > _KILLS
        assert state.documents() == district.documents()
        assert (district.query(_REFUSED), district.query(_OPEN)) == ([], [])


AGENCIES = (100, 200, 300)
OF_THE_STATE = [
    *("--resource", "ed-fi/schoolYearTypes"),
    *("--resource", "ed-fi/localEducationAgencies"),
    *("--resource", "ed-fi/schools"),
]
# The districts that a student is enrolled in: one moves between two of them.
STUDENTS = {"a": (100,), "b": (200,), "c": (300,), "shared": (100, 200)}


def test_three_districts_push_to_one_state(prepared_home: Callable[[Path], Path], tmp_path: Path) -> None:
    """Each as a client that may see its own there; organizations are the state's."""
    with side(prepared_home(tmp_path / "districts")) as districts, side(prepared_home(tmp_path / "state")) as state:
        for each in (districts, state):
            _make_organizations(each)
        with districts.client() as client:
            for id_, agencies in STUDENTS.items():
                _post(client, "students", student(id_))
                for agency in agencies:
                    _post(client, "studentSchoolAssociations", enrollment(id_, agency + 1))
        districts.new_client("reader", "SISVendor")
        credentials = {}
        for agency in AGENCIES:
            credentials[agency] = state.new_client(
                f"d{agency}", "SISVendor", "--education-organization-id", str(agency)
            )
            districts.connect(
                *(f"d{agency}", state, credentials[agency], "--client", "reader"),
                *("--education-organization-id", str(agency), "--without-descriptors"),
                *("--selection", "exclude-only", *OF_THE_STATE),
            )

            assert "0 refused" in districts.push(f"d{agency}")

        seen = {agency: _students_seen(state, *credentials[agency]) for agency in AGENCIES}
        assert seen == {100: {"a", "shared"}, 200: {"b", "shared"}, 300: {"c"}}

        with districts.client() as client:
            which = {"studentUniqueId": "shared", "schoolId": 101}
            [moved] = client.get("/data/ed-fi/studentSchoolAssociations", params=which).json()
            assert client.delete(f"/data/ed-fi/studentSchoolAssociations/{moved['id']}").status_code == 204
        said = districts.push("d100")

        # The enrollment has been deleted; the person belongs to the other district now, and may not be.
        assert "1 deleted, 1 refused" in said
        assert _students_seen(state, *credentials[100]) == {"a"}
        assert _students_seen(state, *credentials[200]) == {"b", "shared"}


def _make_organizations(side_: Side) -> None:
    with side_.client() as client:
        for agency in AGENCIES:
            _post(client, "localEducationAgencies", local_education_agency(agency))
            _post(client, "schools", school(agency + 1, agency))


def _post(client: httpx.Client, endpoint: str, body: dict) -> None:
    answer = client.post(f"/data/ed-fi/{endpoint}", json=body)
    assert answer.is_success, answer.text


def _students_seen(state: Side, key: str, secret: str) -> set[str]:
    form = {"grant_type": "client_credentials"}
    token = httpx.post(f"{state.address}oauth/token", auth=(key, secret), data=form).json()["access_token"]
    with state.client(token) as client:
        return {each["studentUniqueId"] for each in client.get("/data/ed-fi/students").json()}
