"""The recipes of meadowlark/docs/operate/exchange.md as printed, but for addresses, keys and secrets:
`make test-exchange`."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.features.exchange.random_changes import enrollment, local_education_agency, school, student
from tests.features.exchange.sides import Side, side
from tests.meadowlark.run.pages import steps
from tests.support.ports import ADDRESS

TOP = Path(__file__).parents[3]
PAGE = (TOP / "meadowlark/docs/operate/exchange.md").read_text()
FOLLOWING = "manage.py run_exchange\n"
_SECONDS = 60

pytestmark = pytest.mark.exchange


def follow_recipe(heading: str, here: Side, there: Side, given: Mapping[str, str]) -> str:
    """What its commands print, but one that never ends. `given` are keys and secrets by their words on the page."""
    [step] = steps(PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0])
    commands = step.commands
    for word, value in given.items():
        unset = f"{word}=..."
        commands = commands.replace(unset, f"{word}={value}") if unset in commands else commands.replace(word, value)
    commands = re.sub(r"https://[\w.$]+/", there.address, commands)
    commands = re.sub(r"[\w.]+\.example(\.org)?\b", ADDRESS, commands)
    assert "..." not in commands, commands
    function = f'manage.py() {{ "{sys.executable}" manage.py "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", function + commands.removesuffix(FOLLOWING)],
        cwd=TOP,
        env=os.environ | here.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, commands + done.stdout + done.stderr
    return done.stdout


@contextlib.contextmanager
def following(here: Side) -> Iterator[None]:
    command = [sys.executable, *FOLLOWING.split()]
    process = subprocess.Popen(command, cwd=TOP, env=os.environ | here.environment)
    try:
        yield
    finally:
        process.terminate()
        assert process.wait(_SECONDS) == 0


def wait_for(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def write(side_: Side, *documents: tuple[str, dict]) -> None:
    with side_.client() as client:
        for endpoint, body in documents:
            answer = client.post(f"/data/ed-fi/{endpoint}", json=body)
            assert answer.is_success, answer.text


@pytest.fixture
def two(prepared_home: Callable[[Path], Path], tmp_path: Path) -> Iterator[tuple[Side, Side]]:
    """One that has been set up, and another one."""
    with side(prepared_home(tmp_path / "here")) as here, side(prepared_home(tmp_path / "there")) as there:
        yield here, there


def test_a_connection(two: tuple[Side, Side]) -> None:
    here, there = two
    key, secret = there.new_client("puller", "EdFiSandbox")
    write(there, ("schools", school(1)), ("students", student("S1")))

    said = follow_recipe("A connection", here, there, {"KEY_THERE": key, "SECRET_THERE": secret})

    assert said.count("2 inserted") == 2
    assert here.documents() == there.documents()


def test_a_collaborative_of_three_districts(two: tuple[Side, Side]) -> None:
    """The districts are clients of one server here."""
    here, there = two
    write(there, ("schools", school(1)), ("students", student("S1")))
    given = {}
    for district in ("lakeside", "hilltop", "riverside"):
        key, secret = there.new_client(district, "EdFiSandbox")
        given |= {f"KEY_AT_{district.upper()}": key, f"SECRET_OF_{district}": secret}

    assert follow_recipe("A collaborative of three districts", here, there, given).count("it works") == 3

    with following(here):
        wait_for(lambda: here.documents() == there.documents())
    owners = here.query(
        "SELECT DISTINCT c.name FROM document d JOIN security_apiclient c ON c.id = d.created_by"
        " JOIN resource_type t ON t.id = d.resource_type_id WHERE t.name IN ('School', 'Student')"
    )
    assert {name for (name,) in owners} <= {"lakeside", "hilltop", "riverside"}


def test_a_second_server_kept_equal(two: tuple[Side, Side]) -> None:
    here, there = two
    key, secret = there.new_client("puller", "EdFiSandbox")
    write(there, ("schools", school(1)), ("students", student("S1")))

    follow_recipe("A second server kept equal", here, there, {"KEY_THERE": key, "SECRET_THERE": secret})

    assert here.documents() == there.documents()
    with following(here):
        write(there, ("studentSchoolAssociations", enrollment("S1", 1)))
        wait_for(lambda: here.documents() == there.documents())


def test_a_district_that_reports_to_its_state(two: tuple[Side, Side]) -> None:
    district, state = two
    for each in two:
        write(
            each,
            ("localEducationAgencies", local_education_agency(255901)),
            ("schools", school(255901001, agency=255901)),
        )
    write(district, ("students", student("S1")), ("studentSchoolAssociations", enrollment("S1", 255901001)))
    key, secret = state.new_client("district", "SISVendor", "--education-organization-id", "255901")

    given = {"KEY_THERE": key, "SECRET_THERE": secret}
    said = follow_recipe("A district that reports to its state", district, state, given)

    assert "2 documents written, 0 deleted, 0 refused" in said
    with following(district):
        write(district, ("students", student("S2")), ("studentSchoolAssociations", enrollment("S2", 255901001)))
        wait_for(lambda: state.documents() == district.documents())


REFUSED_BY_THE_STATE = """
SELECT t.name FROM exchange_sent_document s JOIN resource_type t ON t.id = s.resource_type_id
 WHERE s.refused_at IS NOT NULL OR s.remote_id IS NULL OR s.awaits <> '{}' ORDER BY t.name
"""
GRADES = (
    "SELECT count(*) FROM document d JOIN resource_type t ON t.id = d.resource_type_id WHERE t.name = 'Grade'"
    " AND (d.body #>> '{studentSectionAssociationReference,schoolId}')::bigint BETWEEN 770000001 AND 770000004"
)


def test_a_whole_district_that_reports_to_its_state(two: tuple[Side, Side], tmp_path: Path) -> None:
    """A made-up one, untouched. What the claim set of its client does not let it write there is refused; everything
    else arrives."""
    district, state = two
    district.manage("generate_demo_district", "--output", str(tmp_path / "demo"), "--students", "200")
    district.manage("load_documents", str(tmp_path / "demo"))
    with district.client() as client:
        for endpoint in ("localEducationAgencies", "schools"):
            found = client.get(f"/data/ed-fi/{endpoint}").json()
            write(state, *((endpoint, {name: each[name] for name in each if name != "id"}) for each in found))
    key, secret = state.new_client("district", "SISVendor", "--education-organization-id", "770000")

    given = {"KEY_THERE": key, "SECRET_THERE": secret, "255901": "770000"}
    said = follow_recipe("A district that reports to its state", district, state, given)

    assert " documents written, 0 deleted, 8 refused" in said
    assert [name for (name,) in district.query(REFUSED_BY_THE_STATE)] == [
        "CommunityOrganization",
        "CommunityProvider",
        "CrisisEvent",
        "EducationOrganizationNetwork",
        "EducationServiceCenter",
        "LearningStandard",
        "PostSecondaryInstitution",
        "StateEducationAgency",
    ]
    assert re.search(r" idle( +\d+){3} +8 +-$", district.manage("list_connections").strip())
    [(grades,)] = state.query(GRADES)
    assert grades > 500
    assert [(grades,)] == district.query(GRADES)
