"""`GET dataStores/{id}/status`: what the database of a data store answers."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from edfi_api.core.data_stores.access import Breaker
from edfi_api.core.storage.database_state import database_state
from edfi_api.features.management_api.scopes import Scope
from tests.core.data_stores.conftest import forget_stores
from tests.features.management_api.managing import Managing, created_id, token_of
from tests.support.ports import free_port


@pytest.fixture(scope="session")
def _connect(django_db_setup: None, django_db_blocker: Any) -> Any:
    with django_db_blocker.unblock():
        return BaseDatabaseWrapper.ensure_connection


@pytest.fixture
def other_databases(db: None, _connect: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Test cases refuse databases that were added after they had begun."""
    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", _connect)
    yield
    forget_stores()


def status_of(management: Managing, connection_string: str | None) -> dict[str, Any]:
    body = {"dataStoreType": "x", "name": "Lakeside", "connectionString": connection_string}
    id_ = created_id(management.post("/v3/dataStores", body))
    answer = management.get(f"/v3/dataStores/{id_}/status")
    assert answer.status_code == 200
    return answer.json() | {"id": answer.json()["id"] == id_}


def test_a_database_with_all_migrations(management: Managing) -> None:
    status = status_of(management, "main")

    assert status.pop("size") > 5_000_000
    assert status == {
        "id": True, "state": "online", "answers": True, "pendingMigrations": 0, "reason": None, "breaker": "closed",
    }  # fmt: skip


@pytest.mark.usefixtures("other_databases")
def test_a_database_without_tables(management: Managing) -> None:
    connection.ensure_connection()
    at = connection.connection.info

    status = status_of(management, f"host={at.host} port={at.port} user={at.user} dbname=postgres")

    assert status["answers"] is True
    assert status["pendingMigrations"] >= 7
    assert status["size"] > 5_000_000


@pytest.mark.usefixtures("other_databases")
def test_a_database_that_does_not_answer(management: Managing) -> None:
    status = status_of(management, f"host=127.0.0.1 port={free_port()} dbname=x user=y password=not-to-be-shown")

    assert "Connection refused" in status["reason"]
    assert "not-to-be-shown" not in status["reason"]
    assert status | {"reason": ""} == {
        "id": True, "state": "online", "answers": False, "pendingMigrations": None, "size": None, "reason": "",
        "breaker": "closed",
    }  # fmt: skip


@pytest.mark.usefixtures("other_databases")
def test_a_process_that_refuses_requests_says_so(management: Managing) -> None:
    body = {"dataStoreType": "x", "name": "x", "connectionString": f"host=127.0.0.1 port={free_port()} dbname=x"}
    id_ = created_id(management.post("/v3/dataStores", body))
    for _ in range(2):
        database_state(f"store_{id_}_1").value(Breaker).note_outage()

    assert management.get(f"/v3/dataStores/{id_}/status").json()["breaker"] == "open"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "its connection string cannot be used: there is none"),
        ("env:MEADOWLARK_STORE_NOWHERE", "its connection string cannot be used: its variable is not set"),
    ],
)
def test_a_connection_string_that_cannot_be_used(management: Managing, text: str | None, reason: str) -> None:
    assert status_of(management, text)["reason"] == reason


def test_what_does_not_exist_and_who_may_not_ask(management: Managing) -> None:
    id_ = created_id(management.post("/v3/dataStores", {"dataStoreType": "x", "name": "x", "connectionString": "main"}))

    assert management.get("/v3/dataStores/99999/status").json()["detail"] == (
        "DataStore 99999 not found. It may have been recently deleted."
    )
    assert management.get("/v3/dataStores/x/status").status_code == 400
    metadata = Managing(token_of("metadata", Scope.AUTHORIZATION_METADATA))
    assert metadata.get(f"/v3/dataStores/{id_}/status").status_code == 403
