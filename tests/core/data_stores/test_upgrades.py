"""An upgrade of a server whose data stores lack a migration, and data stores of development versions."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections

from edfi_api.core.storage import database_state
from tests.support.management_commands import run

# What an app's migrations have made, which nothing else needs.
WITHOUT_DEAD_LETTERS = "DROP TABLE dead_letter; DELETE FROM django_migrations WHERE app = 'change_stream'"
STUDENT = {"studentUniqueId": "1", "firstName": "Ada", "lastSurname": "Diaz", "birthDate": "2010-01-01"}
BEHIND = {
    "detail": "The database of the matched instance is not provisioned",
    "type": "urn:ed-fi:api:database-not-provisioned",
    "title": "Database Not Provisioned",
    "status": 503,
    "validationErrors": {},
    "errors": ["The database of the matched instance is not provisioned"],
}
YEARS = ("2025", "2026", "2027")


@pytest.fixture
def fleet(configured, make_store, client_of):
    """Data stores of three years, each with a student, of which the last is up to date."""
    configured("schoolYear")
    stores = [make_store(year, schoolYear=year) for year in YEARS]
    client = client_of(*stores)
    for year in YEARS:
        assert client.at(f"/{year}").post("/students", STUDENT).status_code == 201
    return stores, client


def _take_back_a_migration(store):
    alias = f"store_{store.pk}_1"
    with connections[alias].cursor() as cursor:
        cursor.execute(WITHOUT_DEAD_LETTERS)
    connections[alias].close()
    database_state.discard(alias)


def test_data_stores_are_served_as_they_are_migrated(fleet):
    """Each goes on when it is up to date, with what it had; the others are refused, and hold nothing up."""
    stores, client = fleet
    before = {year: client.at(f"/{year}").get("/students").json() for year in YEARS}
    for store in stores[:2]:
        _take_back_a_migration(store)

    assert "Data stores: 2 of 3 are behind; migrate_data_stores brings them up to date." in run("migrate")
    for year in YEARS[:2]:
        for refused in (client.at(f"/{year}").get("/students"), client.at(f"/{year}").post("/students", STUDENT)):
            assert refused.status_code == 503
            assert refused.json() == BEHIND | {"correlationId": refused.json()["correlationId"]}
    assert client.at("/2027").get("/students").json() == before["2027"]
    assert client.at("/2027").post("/students", STUDENT | {"studentUniqueId": "2"}).status_code == 201

    run("migrate_data_stores", "--data-store", "2025")
    assert client.at("/2025").get("/students").json() == before["2025"]
    assert client.at("/2026").get("/students").status_code == 503

    lines = run("migrate_data_stores")
    assert [line.rpartition(": ")[2] == "up to date" for line in lines] == [True, False, True]
    assert client.at("/2026").get("/students").json() == before["2026"]
    changed = client.at("/2026").post("/students", STUDENT | {"firstName": "Ida"})
    assert changed.status_code == 200
    deleted = client.at("/2026").delete(f"/students/{before['2026'][0]['id']}")
    assert deleted.status_code == 204
    assert len(client.at("/2026").get("/students/deletes").json()) == 1
    assert run("verify_integrity", "--data-store", "2025")[0].endswith("1 document agrees with its rows")


def test_a_data_store_of_a_development_version_is_not_migrated(fleet, capsys):
    stores, _ = fleet
    alias = f"store_{stores[0].pk}_1"
    with connections[alias].cursor() as cursor:
        cursor.execute("UPDATE django_migrations SET name = '0001_documents' WHERE app = 'edfi_api'")

    with pytest.raises(CommandError, match="failed for 1 of 1 data stores"):
        call_command("migrate_data_stores", data_store=["2025"])
    assert ": A development version of Meadowlark has made the database. Export" in capsys.readouterr().out
