"""Commands that make data stores, killed with SIGKILL at each of their steps and repeated. What is not complete is not
served, and the last run leaves what one that was not interrupted does."""

import os
import pkgutil
import signal
import traceback

import psycopg
import pytest
from django.db import connections

from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.requests.authentication import client_of_token
from edfi_api.core.storage import database_state
from tests.conftest import new_token
from tests.core.data_stores.conftest import StoreClient
from tests.support.management_commands import run

_COMMANDS = "edfi_api.features.loading.management.commands"
_PROVISIONING, _CLONING = (
    "edfi_api.features.loading.provisioning",
    "edfi_api.features.loading.provisioning",
)

# The function, and whether the process ends before or after its call of this number.
PROVISION = [
    (f"{_COMMANDS}.provision_data_store.stored", "after", 1),
    (f"{_COMMANDS}.provision_data_store.created", "after", 1),
    ("django.db.migrations.executor.MigrationExecutor.apply_migration", "before", 5),
    ("django.db.migrations.executor.MigrationExecutor.apply_migration", "after", 9),
    (f"{_PROVISIONING}.migrate", "after", 1),
    ("edfi_api.features.loading.bulk.pipeline.BulkWriter._write", "after", 2),
    (f"{_PROVISIONING}._has_school_years", "before", 1),
    (f"{_PROVISIONING}.put_online", "before", 1),
]
CLONE = [
    (f"{_COMMANDS}.clone_data_store.created", "after", 1),
    (f"{_CLONING}.export_documents", "after", 1),
    ("edfi_api.features.loading.bulk.pipeline.BulkWriter._write", "after", 1),
    (f"{_COMMANDS}.clone_data_store.put_online", "before", 1),
]
COPY = [
    (f"{_COMMANDS}.clone_data_store.stored", "after", 1),
    (f"{_COMMANDS}.clone_data_store.reset_copied_state", "before", 1),
    (f"{_COMMANDS}.clone_data_store.reset_copied_state", "after", 1),
    (f"{_COMMANDS}.clone_data_store.copy_database", "after", 1),
]
STUDENT = {"studentUniqueId": "1", "firstName": "A", "lastSurname": "B", "birthDate": "2010-01-01"}


def kill(step, *arguments):
    """Run the command in a process of its own, which is killed at the step."""
    child = os.fork()
    if child == 0:
        try:
            for alias in list(connections):
                del connections[alias]  # Those of the parent, which goes on using them.
            _arm(*step)
            run(*arguments)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, f"{step} was not reached"


def _arm(name, moment, number):
    owner = pkgutil.resolve_name(name.rpartition(".")[0])
    original = getattr(owner, name.rpartition(".")[2])
    calls = []

    def killed(*arguments, **options):
        calls.append(1)
        is_last = len(calls) == number
        if is_last and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*arguments, **options)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, original.__name__, killed)


@pytest.fixture
def year(transactional_db, year, store_databases):
    return store_databases


@pytest.fixture
def client(year):
    """Assigned whatever data stores there are."""
    token = new_token("tests")

    def at(context):
        ApiClient.objects.get(name="tests").data_stores.set(DataStore.objects.all())
        database_state.forget()  # A process looks for changes once a second at most.
        client_of_token.cache_clear()
        return StoreClient(token, context)

    return at


def assert_is_not_served(client, name):
    assert DataStore.objects.get(name=name).state == State.PREPARING
    answer = client(f"/{name}").get("/students")
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:ed-fi:api:database-not-provisioned")


def documents(url):
    with psycopg.connect(url) as database:
        counted = "SELECT t.name, count(*) FROM document d JOIN resource_type t ON t.id = resource_type_id GROUP BY 1"
        return dict(database.execute(counted).fetchall())


# A run migrates a database, and so takes seconds. `make test-long` has time for all steps.
def some_and_all(steps):
    return pytest.mark.parametrize(
        "steps", [pytest.param(steps[1::6], id="some"), pytest.param(steps, marks=pytest.mark.long, id="all")]
    )


@pytest.mark.long
@some_and_all(PROVISION)
def test_provisioning_is_killed_at_its_steps_and_repeated(year, url, client, steps):
    database = url("killed")
    command = ["provision_data_store", "2027", "--context", "schoolYear=2027", "--url", database, "--create-database"]
    for step in steps:
        kill(step, *command)
        assert_is_not_served(client, "2027")

    assert run(*command) == [f"data store {DataStore.objects.get().pk} 2027: online"]

    found = documents(database)
    assert found["SchoolYearType"] == 51
    assert found["GradeLevelDescriptor"] > 10
    run("provision_data_store", "2028", "--context", "schoolYear=2028", "--url", url("whole"), "--from-template")
    assert found == documents(year.url_of("whole"))
    assert client("/2027").post("/students", STUDENT).status_code == 201
    assert run("verify_integrity", "--data-store", "2027")[0].endswith("documents agree with their rows")


@pytest.mark.long
@some_and_all(CLONE)
def test_a_clone_is_killed_at_its_steps_and_repeated(year, url, client, steps):
    run("provision_data_store", "2027", "--context", "schoolYear=2027", "--url", url("source"), "--from-template")
    assert client("/2027").post("/students", STUDENT).status_code == 201
    database = url("clone")
    command = ["clone_data_store", "2027", "2028", "--context", "schoolYear=2028", "--url", database, "--from-template"]
    for step in steps:
        kill(step, *command)
        assert_is_not_served(client, "2028")

    run(*command)

    assert documents(database) == documents(year.url_of("source"))
    assert [each["studentUniqueId"] for each in client("/2028").get("/students").json()] == ["1"]
    assert run("verify_integrity", "--data-store", "2028")[0].endswith("documents agree with their rows")


@pytest.mark.long
def test_a_copy_of_a_database_is_killed_at_each_step_and_repeated(year, url, client):
    run("provision_data_store", "2027", "--context", "schoolYear=2027", "--url", url("source"), "--from-template")
    at = client("/2027")
    assert at.post("/students", STUDENT).status_code == 201
    [student] = at.get("/students").json()
    assert at.delete(f"/students/{student['id']}").status_code == 204
    newest = at.request("get", "/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"]
    connections[f"store_{DataStore.objects.get().pk}_1"].close()
    command = ["clone_data_store", "2027", "2028", "--context", "schoolYear=2028", "--url", url("copy"), "--all"]
    command += ["--via", "template"]
    for step in COPY:
        kill(step, *command)
        assert_is_not_served(client, "2028")

    run(*command)

    clone = client("/2028")
    assert clone.get("/students/deletes").json() == []
    assert clone.post("/students", STUDENT).status_code == 201
    versions = clone.request("get", "/changeQueries/v1/availableChangeVersions").json()
    assert versions["newestChangeVersion"] > newest + 900_000
