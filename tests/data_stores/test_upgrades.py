"""An upgrade of a server whose data stores were migrated by a former release."""

import pytest
from django.core.management import call_command
from django.db import connections

from edfi_api.storage import database_state
from tests.management_commands import run

# The last migrations of a release before versions of documents, copies of SQL views and followers of validation.
FORMER = {
    "validation": "0001_validation",
    "sql_views": "0002_usi_of_people",
    "change_queries": "0003_reasons",
    "edfi_api": "0010_paths_by_statement",
    "references": "0002_referrers_by_type",
}
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


def _migrate_to_the_former_release(store):
    alias = f"store_{store.pk}_1"
    for app, migration in FORMER.items():
        call_command("migrate", app, migration, database=alias, verbosity=0)
    connections[alias].close()
    database_state.discard(alias)


def test_data_stores_are_served_as_they_are_migrated(fleet):
    """Each goes on when it is up to date, with what it had; the others are refused, and hold nothing up."""
    stores, client = fleet
    before = {year: client.at(f"/{year}").get("/students").json() for year in YEARS}
    for store in stores[:2]:
        _migrate_to_the_former_release(store)

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
    assert run("verify_integrity", "--data-store", "2025")[0].endswith("documents agree with their rows")
