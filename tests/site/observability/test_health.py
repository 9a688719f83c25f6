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


def test_missing_migrations_are_reported(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'descriptors'")

    response = Client().get("/health")

    assert response.status_code == 503
    [migrations] = [result for result in response.json()["Results"] if result["Name"] == "Migrations"]
    assert migrations["Status"] == "Unhealthy"
    assert "have to be applied" in migrations["Description"]
