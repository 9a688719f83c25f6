"""Databases that this version cannot serve are refused in one line: at the start, by checks, by the health endpoint."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docker.conftest import Database
from tests.ports import free_port

TOP = Path(__file__).parents[2]
Prepare = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(missing_database: Database, home: Path) -> Prepare:
    """Runs a Python program of the checkout with the database."""

    def with_the_database(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        defaults = {"DATABASE_URL": missing_database.url, "MEADOWLARK_HOME": str(home)}
        return subprocess.run(
            [sys.executable, *command],
            cwd=TOP,
            env=os.environ | defaults | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    return with_the_database


def health(run: Prepare) -> dict[str, str]:
    """Name and description of each health check."""
    script = (
        "import django; django.setup(); from django.test import Client;"
        "print(Client().get('/health/ready', headers={'Host': 'localhost'}).content.decode())"
    )
    output = run("-c", script, DJANGO_SETTINGS_MODULE="meadowlark.settings").stdout
    return {result["Name"]: result["Description"] for result in json.loads(output)["Results"]}


def test_another_encoding_than_utf8_is_refused(missing_database: Database, run: Prepare) -> None:
    missing_database.create("ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'")
    refusal = (
        f'The encoding of the database "{missing_database.name}" is LATIN1; it has to be UTF8, since JSON is text of'
        " any language. A new one: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0."
    )

    prepared = run("-m", "meadowlark.prepare")
    checked = run("manage.py", "check", "--database", "default")
    migrated = run("manage.py", "migrate")
    served = run("-m", "meadowlark.run", MEADOWLARK_PORT=str(free_port()))

    assert (prepared.returncode, prepared.stderr) == (1, f"{refusal}\n")
    assert checked.returncode == 1
    assert f"?: (edfi_api.E004) {refusal}" in checked.stderr
    assert migrated.returncode == 1
    assert refusal in migrated.stderr
    assert (served.returncode, served.stderr) == (
        1,
        f"{refusal}\nMeadowlark was not started, for the reason above.\n",
    )
    assert not missing_database.has_tables()


def test_a_migration_applied_with_another_text_is_refused(prepared_database: Database, run: Prepare) -> None:
    assert health(run)["Migrations"] == "All migrations are applied."
    prepared_database.execute(
        "UPDATE migration_digest SET digest = repeat('0', 64) WHERE name = '0006_reached_documents'"
    )
    refusal = (
        "The tables of the database are not those of this version: migrations with another text made them"
        " (edfi_api.0006_reached_documents). Export the documents with the version that made it, and load them into a"
        " new database."
    )

    prepared = run("-m", "meadowlark.prepare")
    checked = run("manage.py", "check", "--database", "default")

    assert (prepared.returncode, prepared.stderr) == (1, f"{refusal}\n")
    assert checked.returncode == 1
    assert f"?: (edfi_api.E006) {refusal}" in checked.stderr
    assert health(run)["Migrations"] == (
        "Migrations with another text than this version's were applied: manage.py check --database default."
    )


@pytest.mark.parametrize(
    ("edit", "difference"),
    [
        (
            "CREATE OR REPLACE FUNCTION next_change_version() RETURNS bigint LANGUAGE plpgsql"
            " AS $$ BEGIN RETURN nextval('change_version'); END $$",
            "function next_change_version",
        ),
        ("ALTER FUNCTION lock_people RENAME TO lock_persons", "function lock_people"),
        ("ALTER TABLE document RENAME is_person TO is_somebody", "column document.is_person"),
    ],
)
def test_a_database_without_digests_is_compared_by_its_objects(
    database_without_digests: Database, run: Prepare, edit: str, difference: str
) -> None:
    database_without_digests.execute(edit)

    prepared = run("-m", "meadowlark.prepare")

    assert prepared.returncode == 1
    assert f"migrations with another text made them ({difference})." in prepared.stderr
    assert prepared.stderr.count("\n") == 1


def test_a_database_without_digests_gets_them(
    prepared_once: Database, database_without_digests: Database, run: Prepare
) -> None:
    digests = prepared_once.query("SELECT app, name, digest FROM migration_digest ORDER BY app, name")
    assert run("manage.py", "check", "--database", "default").returncode == 0

    assert run("-m", "meadowlark.prepare").returncode == 0

    assert (
        database_without_digests.query("SELECT app, name, digest FROM migration_digest ORDER BY app, name") == digests
    )
    assert ("references", "0001_references") in {(app, name) for app, name, _ in digests}
    assert {app for app, _, _ in digests} == {
        "change_queries",
        "change_stream",
        "data_stores",
        "descriptors",
        "edfi_api",
        "management_api",
        "profiles",
        "references",
        "refusals",
        "security",
        "sign_in",
        "sql_views",
        "validation",
    }


def test_reverted_migrations_lose_their_digest(prepared_database: Database, run: Prepare) -> None:
    stream = "SELECT name FROM migration_digest WHERE app = 'change_stream'"
    assert prepared_database.query(stream) == [("0001_dead_letters",)]

    assert run("manage.py", "migrate", "change_stream", "zero").returncode == 0

    assert prepared_database.query(stream) == []


def test_a_database_of_a_newer_version_is_served_or_refused_by_setting(
    prepared_database: Database, run: Prepare
) -> None:
    """Servers of two versions may run concurrently during an upgrade; `make run` serves only its own home."""
    prepared_database.execute(
        "INSERT INTO django_migrations (app, name, applied) VALUES ('security', '0999_later', now())"
    )
    remark = "A newer version of Meadowlark has migrated the database (security.0999_later); run that one."

    prepared = run("-m", "meadowlark.prepare")
    refused = run("-m", "meadowlark.prepare", "--refuse-newer")

    assert prepared.returncode == 0
    assert remark in prepared.stderr
    assert (refused.returncode, refused.stderr) == (1, f"{remark}\n")
    assert health(run)["Migrations"] == "All migrations are applied."
