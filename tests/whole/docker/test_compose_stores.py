"""The services of docker/compose.yaml that run Meadowlark, and its profile `stores`: two data stores behind one server.
No container is run."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.whole.docker.conftest import Database

TOP = Path(__file__).parents[3]
SERVICES: dict[str, Any] = yaml.safe_load((TOP / "docker/compose.yaml").read_text())["services"]
MAKING = SERVICES["provision-stores"]
YEARS = ("2026", "2027")
KEY = "a key of tests"


@pytest.fixture
def years(prepared_once: Database) -> Iterator[dict[str, Database]]:
    """A prepared database for each."""
    found = {year: Database(prepared_once.server, f"test_compose_{year}_{os.getpid()}") for year in YEARS}
    for database in found.values():
        prepared_once.copy_to(database)
    yield found
    for database in found.values():
        database.drop()


@pytest.mark.long
def test_its_command_makes_two_data_stores(prepared_database: Database, years: dict[str, Database]) -> None:
    [script] = MAKING["command"]
    environment = os.environ | {
        "DATABASE_URL": prepared_database.url,
        "MEADOWLARK_ROUTE_QUALIFIERS": "schoolYear",
        "MEADOWLARK_SECRET_KEY": KEY,
        **{f"STORE_{year}": database.url for year, database in years.items()},
    }
    command = [*MAKING["entrypoint"], script.replace("$$", "$").replace("python ", f"{sys.executable} ")]

    subprocess.run(command, cwd=TOP, env=environment, check=True)

    assert prepared_database.query(
        "SELECT name, state, key, value FROM data_store JOIN data_store_context ON data_store_id = data_store.id"
        " ORDER BY value"
    ) == [("year-2026", "online", "schoolYear", "2026"), ("year-2027", "online", "schoolYear", "2027")]


def test_its_databases_are_services_with_the_names_in_the_connection_strings() -> None:
    strings = {year: MAKING["environment"][f"STORE_{year}"] for year in YEARS}

    assert strings == {year: f"host=store-{year} dbname=meadowlark user=meadowlark" for year in YEARS}
    for year in YEARS:
        store = SERVICES[f"store-{year}"]
        assert (store["profiles"], store["volumes"]) == (["stores"], [f"store-{year}:/var/lib/postgresql"])
        assert MAKING["depends_on"][f"store-{year}"] == {"condition": "service_healthy"}


def test_the_server_gets_its_qualifiers_and_key() -> None:
    assert MAKING["environment"].keys() - {"STORE_2026", "STORE_2027"} == SERVICES["meadowlark"]["environment"].keys()
    assert SERVICES["meadowlark"]["environment"]["MEADOWLARK_ROUTE_QUALIFIERS"] == "${MEADOWLARK_ROUTE_QUALIFIERS:-}"


@pytest.mark.parametrize("service", [name for name, each in SERVICES.items() if each.get("image") == "meadowlark"])
def test_every_setting_of_the_file_beside_it_reaches_meadowlark(service: str) -> None:
    """Of the README's `docker/.env`, also what the file does not name, such as MEADOWLARK_MAIL_TO."""
    assert SERVICES[service]["env_file"] == [{"path": ".env", "required": False}]
