"""The health endpoint reports the state of database and migrations."""

import pytest
from django.db import OperationalError, connection
from django.test import Client


@pytest.mark.parametrize("path", ["/health", "/health/", "/HEALTH", "/health/ready"])
def test_a_server_with_its_database_is_healthy(path: str, db: None) -> None:
    response = Client().get(path)

    assert response.status_code == 200
    assert response.json() == {
        "Status": "Healthy",
        "Results": [
            {"Name": "Database", "Status": "Healthy", "Description": "The database answers."},
            {"Name": "Migrations", "Status": "Healthy", "Description": "All migrations are applied."},
        ],
    }


def test_the_health_endpoint_answers_head(db: None) -> None:
    assert Client().head("/health").status_code == 200


def test_a_server_without_database_is_alive_but_not_ready(db: None) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("connection refused")

    with connection.execute_wrapper(refuse):
        alive, ready = Client().get("/health/live"), Client().get("/health/ready")

    assert (alive.status_code, alive.json()["Status"]) == (200, "Healthy")
    assert (ready.status_code, ready.json()["Status"]) == (503, "Unhealthy")
    assert [result["Name"] for result in ready.json()["Results"]] == ["Database"]


@pytest.mark.parametrize(
    ("migration", "status", "description"),
    [
        ("0999_later", 200, "All migrations are applied."),
        ("0999_contract_0_9_keys", 200, "All migrations are applied."),
        (
            "0999_contract_99_0_keys",
            503,
            "A newer version has taken away what this version uses: run the newer one.",
        ),
    ],
)
def test_a_database_of_a_newer_version_is_served_until_it_takes_something_away(
    migration: str, status: int, description: str, db: None
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('edfi_api', %s, now())", [migration])

    response = Client().get("/health/ready")

    assert response.status_code == status
    [migrations] = [result for result in response.json()["Results"] if result["Name"] == "Migrations"]
    assert migrations["Description"] == description


def test_missing_migrations_are_reported(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'descriptors'")

    response = Client().get("/health")

    assert response.status_code == 503
    [migrations] = [result for result in response.json()["Results"] if result["Name"] == "Migrations"]
    assert migrations["Status"] == "Unhealthy"
    assert "have to be applied" in migrations["Description"]
