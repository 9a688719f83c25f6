"""Every documented way to start, by `make` on a fresh home, serves; what it prints works as printed, at the second
start as well.

`make test-modes` takes all, and `make test-long` those that differ most in what a start makes and prints. The gate has
starts on a fresh home (tests/meadowlark/run/test_make_run.py), and that of the demo with what it loads
(tests/features/loading/demo_district).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest

from meadowlark.run.embedded_postgres import EmbeddedPostgres
from tests.meadowlark.run.pages import environment_of_a_newcomer
from tests.meadowlark.run.terminal import answered
from tests.support.ports import free_port
from tests.support.serving import LAKE_COUNTY
from tests.whole.modes.made import TOP, Made

STUDENTS = "STUDENTS=200"


@dataclass(frozen=True)
class Mode:
    """What follows `make`, the variables before it, and the path of the first request that is printed."""

    target: tuple[str, ...] = ("run",)
    variables: dict[str, str] = field(default_factory=dict)
    first: str = "/data/ed-fi/schoolYearTypes?limit=2"


def served(first: str = Mode.first, **variables: str) -> Mode:
    return Mode(variables={f"MEADOWLARK_{name}": value for name, value in variables.items()}, first=first)


TENANTS = {"MULTI_TENANCY": "true"}
TENANTS_AND_QUALIFIERS = served(
    "/demo/1/2026/data/ed-fi/schoolYearTypes?limit=2", **TENANTS, ROUTE_QUALIFIERS="districtId,schoolYear"
)
MANAGEMENT_ONLY = served("/v3/claimSets", MANAGEMENT_ONLY="true")
DEMO = Mode(("demo", STUDENTS))
ALL = {
    "plain": served(),
    "tenants-and-qualifiers": TENANTS_AND_QUALIFIERS,
    "management-only": MANAGEMENT_ONLY,
    "demo": DEMO,
    "tenants": served("/demo/data/ed-fi/schoolYearTypes?limit=2", **TENANTS),
    "qualifiers": served("/2026/data/ed-fi/schoolYearTypes?limit=2", ROUTE_QUALIFIERS="schoolYear"),
    "stores-only": served(MAIN_STORE="false"),
    "management": served(MANAGEMENT_PATH="config"),
    "management-of-tenants": served("/v3/tenants", MANAGEMENT_ONLY="true", **TENANTS),
    "ods": served(COMPATIBILITY="ods"),
    "ignored-parameters": served(IGNORE_UNKNOWN_PARAMETERS="true"),
    "put-without-id": served(PUT_WITHOUT_ID="true"),
    "problems-without-empty-members": served(OMIT_EMPTY_PROBLEM_MEMBERS="true"),
    "strict": served(STRICT="true"),
    "update-by-post": served(UPSERT_ASKS_UPDATE="true"),
    "5.2": served(DATA_STANDARD="5.2"),
    "3.3.1-b": served(DATA_STANDARD="3.3.1-b"),
    "4.0": served(DATA_STANDARD="4.0"),
    "6.1": served(DATA_STANDARD="6.1"),
    "extension": served(EXTENSIONS=str(LAKE_COUNTY)),
    "former-worker": served(WORKER="gthread"),
    "demo-of-tenants": Mode(("demo", STUDENTS), TENANTS_AND_QUALIFIERS.variables, TENANTS_AND_QUALIFIERS.first),
    "demo-of-3.3.1-b": Mode(("demo", STUDENTS), {"MEADOWLARK_DATA_STANDARD": "3.3.1-b"}),
}


@pytest.fixture(scope="module", autouse=True)
def _is_installed() -> None:
    """Where the lock differs from what is installed, `make` installs again, beside all other tests."""
    stamp = TOP / ".venv/ready"
    if not stamp.exists() or stamp.read_bytes() != (TOP / "requirements.lock").read_bytes():
        pytest.skip(".venv is not of this requirements.lock: make would make another one")


@pytest.mark.modes
@pytest.mark.parametrize("mode", [pytest.param(mode, id=name) for name, mode in ALL.items()])
def test_every_mode_serves_what_it_prints(mode: Mode, tmp_path: Path) -> None:
    for _ in range(2):
        with start(mode, tmp_path / "home") as made:
            assert_first_request(mode, made)


@pytest.mark.long
def test_tenants_and_qualifiers_on_a_fresh_home(tmp_path: Path) -> None:
    with start(TENANTS_AND_QUALIFIERS, tmp_path / "home") as made:
        assert_first_request(TENANTS_AND_QUALIFIERS, made)


@pytest.mark.long
def test_management_only(tmp_path: Path, prepared_home: Callable[[Path], Path]) -> None:
    with start(MANAGEMENT_ONLY, prepared_home(tmp_path / "home")) as made:
        assert_first_request(MANAGEMENT_ONLY, made)
        assert httpx.get(f"{made.address}/data/ed-fi/students").status_code == 404


@pytest.mark.modes
def test_the_demo(tmp_path: Path, prepared_home: Callable[[Path], Path]) -> None:
    home = prepared_home(tmp_path / "home")
    with start(DEMO, home) as first:
        assert_first_request(DEMO, first)
        [password] = re.findall(r"^  password  (\S+)$", first.output, re.MULTILINE)
        assert [httpx.get(page, follow_redirects=True).status_code for page in first.pages] == [200, 200]

    with start(DEMO, home) as second:
        assert_first_request(DEMO, second)
        assert password not in second.output
        [command] = re.findall(r"^  (.+ changepassword admin)$", second.output, re.MULTILINE)
        output = answered(command, environment_of_a_newcomer(), "a new long password", "a new long password")

    assert "Password changed successfully for user 'admin'" in output


@pytest.mark.modes
def test_the_tenants_of_an_operator_get_what_is_printed(tmp_path: Path, prepared_home: Callable[[Path], Path]) -> None:
    home = prepared_home(tmp_path / "home")
    with EmbeddedPostgres(home) as server, psycopg.connect(server.url) as connection:
        connection.execute("INSERT INTO tenant (name) VALUES ('lakeside')")
    mode = served("/lakeside/2026/data/ed-fi/schoolYearTypes?limit=2", **TENANTS, ROUTE_QUALIFIERS="schoolYear")

    for heading in ("The tenants have no demo client.", "The secret of the demo client was shown at the first start."):
        with start(mode, home) as made:
            assert heading in made.output
            assert_first_request(mode, made)


def start(mode: Mode, home: Path) -> Made:
    return Made(home, free_port(), *mode.target, **mode.variables)


def assert_first_request(mode: Mode, made: Made) -> None:
    assert f"{made.address}{mode.first}" in made.commands()
    answer = made.run_commands().replace("\r\n", "\n")
    assert re.search(r"^HTTP/1.1 200 OK$", answer, re.MULTILINE)
    assert answer.rstrip().endswith("]")
