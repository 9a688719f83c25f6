"""Databases that this version cannot serve are refused in one line: at the start, by checks, by the health endpoint."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db.backends.postgresql.base import DatabaseWrapper

from tests.support.forking import manage, preparing
from tests.support.ports import free_port
from tests.whole.docker.conftest import Database, Ended, Run, health

TOP = Path(__file__).parents[3]


def make_run(database: Database, home: Path) -> Ended:
    """`python -m meadowlark.run` with the database, in a process that has to end by itself."""
    variables = {
        "DATABASE_URL": database.url,
        "MEADOWLARK_HOME": str(home),
        "MEADOWLARK_PORT": str(free_port()),
    }
    command = [sys.executable, "-m", "meadowlark.run"]
    return subprocess.run(command, cwd=TOP, env=os.environ | variables, capture_output=True, text=True, check=False)


def test_another_encoding_than_utf8_is_refused(missing_database: Database, home: Path, run: Run) -> None:
    missing_database.create("ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'")
    refusal = (
        f'The encoding of the database "{missing_database.name}" is LATIN1; it has to be UTF8, since JSON is text of'
        " any language. A new one: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0."
    )

    prepared = run(preparing)
    checked = run(manage, "check", "--database", "default")
    migrated = run(manage, "migrate")
    served = make_run(missing_database, home)

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


def test_an_older_postgresql_is_refused(empty_database: Database, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DatabaseWrapper, "pg_version", 140_011)
    refusal = (
        "The server of the database is PostgreSQL 14; it has to be 15 or newer. Upgrade it (pg_upgrade), or set"
        " DATABASE_URL to the address of a newer one."
    )

    prepared = run(preparing)
    migrated = run(manage, "migrate")

    assert (prepared.returncode, prepared.stderr) == (1, f"{refusal}\n")
    assert migrated.returncode == 1
    assert f"?: (edfi_api.E009) {refusal}" in migrated.stderr
    assert not empty_database.has_tables()


def test_a_database_that_does_not_exist_is_reported_with_what_to_check(
    missing_database: Database, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", missing_database.url)

    prepared = run(preparing)

    assert prepared.returncode == 1
    assert prepared.stderr.startswith("The database cannot be used: connection failed: ")
    assert f'database "{missing_database.name}" does not exist' in prepared.stderr
    assert prepared.stderr.endswith(" (check host, port, user, password and database in DATABASE_URL)\n")
    assert prepared.stderr.count("\n") == 1


def test_a_database_from_which_a_newer_version_has_taken_something_is_refused(
    prepared_database: Database, run: Run
) -> None:
    prepared_database.execute(
        "INSERT INTO django_migrations (app, name, applied) VALUES ('security', '0999_contract_99_0_links', now())"
    )
    refusal = (
        "A newer version of Meadowlark has taken away what this version uses (security.0999_contract_99_0_links); run"
        " that one."
    )

    prepared = run(preparing)

    assert (prepared.returncode, prepared.stderr) == (1, f"{refusal}\n")


def test_a_migration_applied_with_another_text_is_refused(prepared_database: Database, run: Run) -> None:
    assert health(run)["Migrations"] == "All migrations are applied."
    prepared_database.execute(
        "UPDATE migration_digest SET digest = repeat('0', 64) WHERE name = '0003_smaller_documents'"
    )
    refusal = (
        "The tables of the database are not those of this version: migrations with another text made them"
        " (edfi_api.0003_smaller_documents). Export the documents with the version that made it, and load them into a"
        " new database."
    )

    prepared = run(preparing)
    checked = run(manage, "check", "--database", "default")

    assert (prepared.returncode, prepared.stderr) == (1, f"{refusal}\n")
    assert checked.returncode == 1
    assert f"?: (edfi_api.E006) {refusal}" in checked.stderr
    assert health(run)["Migrations"] == (
        "Migrations with another text than this version's were applied: manage.py check --database default."
    )


def test_a_database_of_a_development_version_is_refused_with_the_way_out(
    prepared_database: Database, home: Path, run: Run
) -> None:
    prepared_database.execute("UPDATE django_migrations SET name = '0001_documents' WHERE app = 'edfi_api'")
    refusal = (
        "A development version of Meadowlark has made the database. Export the documents with that version (manage.py"
        " export_documents --output DIR), and load them into a new database with this one (manage.py load_documents"
        " DIR); meadowlark/docs/operate/upgrades.md says how."
    )

    prepared = run(preparing)
    checked = run(manage, "check", "--database", "default")
    migrated = run(manage, "migrate")
    served = make_run(prepared_database, home)

    assert (prepared.returncode, prepared.stderr) == (1, f"{refusal}\n")
    assert f"?: (edfi_api.E007) {refusal}" in checked.stderr
    assert migrated.returncode == 1 and refusal in migrated.stderr
    assert (served.returncode, served.stderr) == (1, f"{refusal}\nMeadowlark was not started, for the reason above.\n")


def test_every_applied_migration_has_a_digest(prepared_once: Database) -> None:
    later = [
        ("change_queries", "0002_consumers_of_logs"),
        ("change_queries", "0003_kept_versions"),
        ("change_queries", "0004_restorations"),
        ("change_queries", "0005_derived_keys"),
        ("change_queries", "0006_moved_identities"),
        ("change_queries", "0007_comparable_uris"),
        ("data_stores", "0002_unique_names"),
        ("edfi_api", "0002_natural_key"),
        ("edfi_api", "0003_smaller_documents"),
        ("edfi_api", "0004_smaller_indexes"),
        ("edfi_api", "0005_use_smaller_indexes"),
        ("edfi_api", "0006_drop_larger_indexes"),
        ("edfi_api", "0007_name_words"),
        ("edfi_api", "0008_faster_name_words"),
        ("exchange", "0002_waiting_deletes"),
        ("exchange", "0003_windows_under_way"),
        ("exchange", "0004_every_waiting_delete"),
        ("exchange", "0005_name_taken"),
        ("exchange", "0006_pinned_documents"),
        ("exchange", "0007_requests_per_second"),
        ("ods_import", "0002_documents_of_the_last_pass"),
        ("refusals", "0002_direction"),
        ("refusals", "0003_rules"),
        ("refusals", "0004_causes"),
        ("refusals", "0005_hints"),
        ("refusals", "0006_of_organization"),
        ("security", "0002_secret_links"),
        ("security", "0003_group_permissions"),
        ("sql_views", "0002_people_by_number"),
        ("validation", "0002_consumers_of_results"),
        ("validation", "0003_dismissals"),
        ("validation", "0004_follow_ups"),
    ]
    initial = [
        (app, "0001_initial")
        for app in (
            "change_queries",
            "change_stream",
            "data_stores",
            "descriptors",
            "edfi_api",
            "exchange",
            "exchange_push",
            "mail",
            "management_api",
            "ods_import",
            "profiles",
            "questions",
            "references",
            "refusals",
            "runs",
            "sandboxes",
            "schedule",
            "security",
            "sign_in",
            "sql_views",
            "tables",
            "today",
            "validation",
        )
    ]

    assert prepared_once.query("SELECT app, name FROM migration_digest ORDER BY app, name") == sorted(initial + later)


def test_reverted_migrations_lose_their_digest(prepared_database: Database, run: Run) -> None:
    stream = "SELECT name FROM migration_digest WHERE app = 'descriptors'"
    assert prepared_database.query(stream) == [("0001_initial",)]

    assert run(manage, "migrate", "descriptors", "zero").returncode == 0

    assert prepared_database.query(stream) == []


def test_a_database_of_a_newer_version_is_served_or_refused_by_setting(prepared_database: Database, run: Run) -> None:
    """Servers of two versions may run concurrently during an upgrade; `make run` serves only its own home."""
    prepared_database.execute(
        "INSERT INTO django_migrations (app, name, applied) VALUES ('security', '0999_later', now())"
    )
    remark = "A newer version of Meadowlark has migrated the database (security.0999_later); run that one."

    prepared = run(preparing)
    refused = run(preparing, "--refuse-newer")

    assert prepared.returncode == 0
    assert remark in prepared.stderr
    assert (refused.returncode, refused.stderr) == (1, f"{remark}\n")
    assert health(run)["Migrations"] == "All migrations are applied."
