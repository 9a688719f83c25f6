"""Snapshots and read replicas of data stores."""

import pytest

from edfi_api.core.data_stores.models import DataStoreDerivative, DerivativeType
from edfi_api.core.data_stores.stores import add_derivative
from tests.conftest import new_token
from tests.core.data_stores.conftest import StoreClient

STUDENTS = "/students"
VERSIONS = "/changeQueries/v1/availableChangeVersions"
STUDENT = {"studentUniqueId": "1", "firstName": "Ada", "lastSurname": "Old", "birthDate": "2010-01-01"}
SNAPSHOT = {"HTTP_USE_SNAPSHOT": "true"}


@pytest.fixture
def store(configured, make_store):
    configured("schoolYear")
    return make_store("2027", schoolYear="2027")


@pytest.fixture
def client(store, client_of):
    return client_of(store).at("/2027")


def _close(alias):
    from django.db import connections  # noqa: PLC0415

    connections[alias].close()


def _snapshot(store, store_databases):
    """Make a snapshot of the database as it is now."""
    _close(f"store_{store.pk}_1")
    return add_derivative(store, DerivativeType.SNAPSHOT, store_databases.create(template=store_databases.made[0]))


@pytest.mark.parametrize("value", ["true", "True", " TRUE "])
def test_a_snapshot_answers_as_the_data_was(store, client, store_databases, value):
    client.post(STUDENTS, STUDENT)
    _snapshot(store, store_databases)
    client.post(STUDENTS, STUDENT | {"lastSurname": "New"})
    client.post(STUDENTS, STUDENT | {"studentUniqueId": "2"})
    _look_again()

    then = client.get(STUDENTS, HTTP_USE_SNAPSHOT=value).json()

    assert [each["lastSurname"] for each in then] == ["Old"]
    assert len(client.get(STUDENTS).json()) == 2
    assert len(client.get(STUDENTS, HTTP_USE_SNAPSHOT="false").json()) == 2
    assert client.get(f"{STUDENTS}/{then[0]['id']}", **SNAPSHOT).json()["lastSurname"] == "Old"
    newest = [client.request("get", VERSIONS, **extra).json()["newestChangeVersion"] for extra in ({}, SNAPSHOT)]
    assert newest[0] > newest[1]


def test_the_newest_snapshot_answers(store, client, store_databases):
    client.get(STUDENTS)
    _snapshot(store, store_databases)
    client.post(STUDENTS, STUDENT)
    _snapshot(store, store_databases)
    _look_again()

    assert len(client.get(STUDENTS, **SNAPSHOT).json()) == 1


def test_another_database_of_a_snapshot_answers_once_it_is_set(store, client, store_databases):
    client.get(STUDENTS)
    before = _snapshot(store, store_databases)
    client.post(STUDENTS, STUDENT)
    after = _snapshot(store, store_databases)
    after.delete()
    _look_again()
    assert client.get(STUDENTS, **SNAPSHOT).json() == []

    DataStoreDerivative.objects.filter(pk=before.pk).update(connection=after.connection)
    _look_again()

    assert len(client.get(STUDENTS, **SNAPSHOT).json()) == 1


def test_a_snapshot_is_not_written(store, client, store_databases):
    client.get(STUDENTS)
    _snapshot(store, store_databases)
    _look_again()

    refused = client.post(STUDENTS, STUDENT, **SNAPSHOT)

    assert refused.status_code == 405
    assert refused.json()["type"] == "urn:ed-fi:api:snapshots:method-not-allowed"
    assert refused.json()["title"] == "Method Not Allowed with Snapshots"
    assert client.get(STUDENTS).json() == []


def test_without_a_snapshot(store, client):
    refused = client.get(STUDENTS, **SNAPSHOT)

    assert refused.status_code == 404
    assert refused.json()["type"] == "urn:ed-fi:api:route-resolution-error"
    assert refused.json()["detail"] == "No snapshot is configured for the matched instance."


READS = [
    STUDENTS,
    f"{STUDENTS}?limit=0",
    f"{STUDENTS}/0b8b0ee3-6f3e-4b3a-9d0f-4d7a3f0c9a11",
    f"{STUDENTS}/deletes",
    f"{STUDENTS}/keyChanges",
    f"{STUDENTS}/partitions",
    "/absenceEventCategoryDescriptors",
    "/data/v3/ed-fi/students",
    VERSIONS,
    "/relations/v1/ed-fi/students/0b8b0ee3-6f3e-4b3a-9d0f-4d7a3f0c9a11",
    "/history/v1/ed-fi/students/0b8b0ee3-6f3e-4b3a-9d0f-4d7a3f0c9a11",
    "/validation/v1/validationResults",
    "/noSuchThings",
]


@pytest.mark.parametrize("path", READS)
def test_the_admin_database_has_no_snapshots(db, path):
    client = StoreClient(new_token())
    client.post(STUDENTS, STUDENT)

    refused = client.get(path, **SNAPSHOT)

    assert refused.status_code == 404
    problem = refused.json()
    assert (problem["type"], problem["title"]) == ("urn:ed-fi:api:not-found", "Not Found")
    assert problem["detail"] == "Snapshot not found."
    assert problem["errors"] == ["The snapshot connection for the ODS has not been configured."]
    assert "Without the header" in problem["hints"][0]


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
@pytest.mark.parametrize(
    "path", [STUDENTS, f"{STUDENTS}/0b8b0ee3-6f3e-4b3a-9d0f-4d7a3f0c9a11", "/batch", "/noSuchThings"]
)
def test_nothing_is_written_to_the_admin_database_for_a_snapshot(db, method, path):
    client = StoreClient(new_token())

    refused = client.request(method, path, STUDENT, **SNAPSHOT)

    assert refused.status_code == 405
    assert refused.json()["type"] == "urn:ed-fi:api:snapshots:method-not-allowed"
    assert refused.json()["detail"] == "An attempt was made to modify data in a Snapshot, but this data is read-only."
    assert refused["Allow"] == "GET"
    assert client.get(STUDENTS).json() == []


@pytest.mark.parametrize("value", ["false", "", "no"])
def test_live_data_are_read_where_no_snapshot_is_requested(db, value):
    client = StoreClient(new_token())

    assert client.post(STUDENTS, STUDENT, HTTP_USE_SNAPSHOT=value).status_code == 201
    assert len(client.get(STUDENTS, HTTP_USE_SNAPSHOT=value).json()) == 1


def test_a_token_is_asked_for_before_the_snapshot(db):
    assert StoreClient("unknown").get(STUDENTS, **SNAPSHOT).status_code == 401


def test_a_replica_that_is_none_or_is_away_leaves_reads_to_the_primary(store, client, store_databases):
    client.post(STUDENTS, STUDENT)
    add_derivative(store, DerivativeType.READ_REPLICA, store_databases.create())  # Not in recovery: not fresh.
    add_derivative(store, DerivativeType.READ_REPLICA, store_databases.url_of("away"))
    add_derivative(store, DerivativeType.READ_REPLICA, "nonsense")
    _look_again()

    assert [len(client.get(STUDENTS).json()) for _ in range(4)] == [1, 1, 1, 1]


def test_the_replica_of_the_admin_database_is_not_that_of_a_store(store, client, store_databases):
    """A read of a store must never go to the admin database's replica."""
    from django.db import connections  # noqa: PLC0415

    from edfi_api.core.storage.database_state import replicas  # noqa: PLC0415

    client.post(STUDENTS, STUDENT)
    connections.settings["replica"] = dict(connections.settings["default"])
    try:
        assert replicas("default") == ("replica",)
        assert replicas(f"store_{store.pk}_1") == ()
        assert len(client.get(STUDENTS).json()) == 1
    finally:
        del connections.settings["replica"]


def _look_again():
    """Act as if the seconds had passed after which data stores are read again."""
    from edfi_api.core.data_stores.routing_cache import routing_cache  # noqa: PLC0415

    routing_cache()._checked_at -= 11
