"""A database that a released version has made is brought up to date with all its rows. Servers of that version can go
on beside new ones meanwhile: `migrate` takes nothing from them, and adds nothing that they would have to write."""

import json
from functools import partial

import pytest
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.migrations.executor import MigrationExecutor

from tests.conftest import ApiTestClient, new_token
from tests.support.forking import manage
from tests.whole.docker.conftest import Database, Run, health

# The last migrations of each release; those of Django and of libraries as far as these need them.
RELEASES = {
    "1.0.0": {
        "change_queries": "0006_moved_identities",
        "change_stream": "0001_initial",
        "data_stores": "0001_initial",
        "descriptors": "0001_initial",
        "edfi_api": "0003_smaller_documents",
        "exchange": "0005_name_taken",
        "exchange_push": "0001_initial",
        "management_api": "0001_initial",
        "ods_import": "0002_documents_of_the_last_pass",
        "profiles": "0001_initial",
        "references": "0001_initial",
        "refusals": "0003_rules",
        "schedule": "0001_initial",
        "security": "0002_secret_links",
        "sign_in": "0001_initial",
        "sql_views": "0001_initial",
        "validation": "0003_dismissals",
    }
}
STUDENT = {"studentUniqueId": "1", "firstName": "Ada", "lastSurname": "Diaz", "birthDate": "2010-01-01"}
COLUMNS = (
    "SELECT table_name, column_name, data_type,"
    "       is_nullable = 'YES' OR column_default IS NOT NULL OR is_identity = 'YES'"
    "  FROM information_schema.columns WHERE table_schema = 'public'"
)


def migrated_by(release: str) -> None:
    executor = MigrationExecutor(connection)
    leaves = [leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] not in RELEASES[release]]
    executor.migrate([*RELEASES[release].items(), *leaves])
    emit_post_migrate_signal(0, False, DEFAULT_DB_ALIAS)


def columns(database: Database) -> dict[tuple[str, str], tuple[str, bool]]:
    """The type of each column, and whether a row can be written without it, by table and name."""
    return {(table, name): (type_, is_optional) for table, name, type_, is_optional in database.query(COLUMNS)}


def written_document() -> None:
    client = ApiTestClient(new_token())
    assert client.post("/students", STUDENT).status_code == 201
    print(json.dumps(client.get("/students").json()))


def read_documents() -> None:
    print(json.dumps(ApiTestClient(new_token("after")).get("/students").json()))


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES)
def test_a_database_of_a_release_is_brought_up_to_date(empty_database: Database, run: Run, release: str) -> None:
    run(partial(migrated_by, release)).check_returncode()
    behind = health(run)["Migrations"]
    written = run(written_document)
    written.check_returncode()
    before = columns(empty_database)

    run(manage, "migrate", "--verbosity", "0").check_returncode()

    assert "have to be applied: manage.py migrate." in behind
    assert health(run)["Migrations"] == "All migrations are applied."
    assert json.loads(run(read_documents).stdout) == json.loads(written.stdout)
    assert "1 document agrees" in run(manage, "verify_integrity").stdout
    after = columns(empty_database)
    assert {place: after.get(place) for place in before} == before
    tables = {table for table, _ in before}
    added = {place: is_optional for place, (_, is_optional) in after.items() if place not in before}
    assert [place for place, is_optional in added.items() if place[0] in tables and not is_optional] == []
