"""`MEADOWLARK_COMPATIBILITY=ods`, in the settings and in the answers of a server."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.factories import STUDENT
from tests.whole.robustness.real_server import RealServer

TOP = Path(__file__).parents[3]
SETTINGS = ("UPSERT_ASKS_UPDATE", "IGNORE_UNKNOWN_PARAMETERS", "PUT_WITHOUT_ID", "OMIT_EMPTY_PROBLEM_MEMBERS")


def settings(**environment: str) -> dict[str, bool]:
    """The compatibility settings in this environment."""
    program = "import json; from meadowlark.settings import EDFI_API; print(json.dumps(EDFI_API, default=str))"
    inherited = {name: value for name, value in os.environ.items() if name.removeprefix("MEADOWLARK_") not in SETTINGS}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=TOP,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: value for name, value in json.loads(done.stdout).items() if name in SETTINGS}


@pytest.mark.parametrize("value", ["", "ods"])
def test_ods_sets_all_compatibility_settings(value: str) -> None:
    assert settings(MEADOWLARK_COMPATIBILITY=value) == dict.fromkeys(SETTINGS, value == "ods")


@pytest.mark.parametrize("name", SETTINGS)
def test_an_explicit_setting_takes_precedence(name: str) -> None:
    one_is_off = settings(MEADOWLARK_COMPATIBILITY="ods", **{f"MEADOWLARK_{name}": "false"})
    one_is_on = settings(MEADOWLARK_COMPATIBILITY="", **{f"MEADOWLARK_{name}": "true"})
    one_is_empty = settings(MEADOWLARK_COMPATIBILITY="ods", **{f"MEADOWLARK_{name}": ""})

    assert one_is_off == {each: each != name for each in SETTINGS}
    assert one_is_on == {each: each == name for each in SETTINGS}
    assert one_is_empty == dict.fromkeys(SETTINGS, True)


@pytest.mark.parametrize("command", [["manage.py", "check"], ["-m", "meadowlark.prepare"]], ids=" ".join)
@pytest.mark.parametrize("value", ["odz", "ODS", "true"])
def test_an_unknown_value_is_refused_in_one_line(command: list[str], value: str) -> None:
    environment = os.environ | {"MEADOWLARK_COMPATIBILITY": value}

    done = subprocess.run(
        [sys.executable, *command], cwd=TOP, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr.endswith(f"MEADOWLARK_COMPATIBILITY is {value!r}; it must be empty or one of: ods.\n")
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture(scope="module", params=["", "ods"], ids=["default", "ods"])
def server(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    prepared_home: Callable[[Path], Path],
) -> Iterator[tuple[str, RealServer]]:
    """A value of the variable, and a server started with it."""
    home = prepared_home(tmp_path_factory.mktemp("server") / "home")
    with RealServer(home, MEADOWLARK_COMPATIBILITY=request.param) as running:
        yield request.param, running


def test_a_server_answers_according_to_the_setting(server: tuple[str, RealServer]) -> None:
    value, running = server
    with running.client() as client:
        created = client.send("POST", "/data/ed-fi/students", STUDENT)
        item = created.headers["Location"].partition(str(running.port))[2]

        queries = [client.send("GET", f"/data/ed-fi/students?lastSurname=Ortiz&colour={n}") for n in range(20)]
        put = client.send("PUT", item, STUDENT | {"firstName": "June"})
        problem = json.loads(client.send("POST", "/data/ed-fi/students", STUDENT | {"birthDate": "soon"}).body)

    logged = running.log.read_text().count("MEADOWLARK_COMPATIBILITY=ods")
    workers = len(running.workers())
    if value == "ods":
        assert {query.status for query in queries} == {200}
        assert put.status == 204
        assert "errors" not in problem
        assert logged == 0
    else:
        assert {query.status for query in queries} == {400}
        assert put.status == 400
        assert problem["errors"] == []
        assert 1 <= logged <= workers
