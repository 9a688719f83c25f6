"""Connections to other APIs whose documents are in a data store."""

from collections.abc import Callable, Iterator

import pytest

from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.data_stores.routing_cache import primary_of
from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.exchange.models import Connection, ExchangePosition, WaitingDocument
from edfi_api.features.exchange.push.models import SentDocument
from tests.features.exchange.district import District
from tests.features.exchange.reference_source import KEY, SECRET, ReferenceSource
from tests.features.exchange.reference_target import Answer, ReferenceTarget, serving
from tests.support.factories import STUDENT
from tests.support.management_commands import run


@pytest.fixture
def source() -> Iterator[ReferenceSource]:
    with ReferenceSource().serving() as found:
        yield found


@pytest.fixture
def target() -> Iterator[ReferenceTarget]:
    with serving(ReferenceTarget()) as found:
        yield found


@pytest.fixture
def connect(configured, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, DataStore], None]:
    """Adds a connection of the client `tests` for a data store."""
    monkeypatch.setenv("SECRET_THERE", SECRET)

    def add(direction: str, address: str, store: DataStore) -> None:
        there = ["--key", KEY, "--secret-env", "SECRET_THERE"]
        run("add_connection", "other", direction, address, *there, "--client", "tests", "--data-store", store.name)

    return add


def test_what_is_pulled_is_in_the_data_store(stores, client_of, source, connect) -> None:
    first, _ = stores
    api, using = client_of(*stores), alias_of(primary_of(first))
    connect("pull", source.address, first)
    district = District(source)
    students = [district.student(number) for number in range(2)]
    district.enrollment(0)

    run("pull_changes", "other")

    assert WaitingDocument.objects.using(using).get().resource == "ed-fi/studentSchoolAssociations"
    source.remove(students[1], studentUniqueId="S1")
    run("pull_changes", "other")

    assert [each["studentUniqueId"] for each in api.at("/2026").get("/students").json()] == ["S0"]
    assert api.at("/2027").get("/students").json() == []
    assert ExchangePosition.objects.using(using).get().version == source.version
    assert not ExchangePosition.objects.exists()
    state = Connection.objects.get().state
    assert (state.phase, state.position, state.refused) == ("idle", source.version, 1)


def test_what_is_in_the_data_store_is_pushed(stores, client_of, target, connect) -> None:
    first, _ = stores
    api, using = client_of(*stores), alias_of(primary_of(first))
    paths = {}
    for context, id_ in (("/2026", "A"), ("/2026", "B"), ("/2026", "C"), ("/2027", "D")):
        answer = api.at(context).post("/students", STUDENT | {"studentUniqueId": id_})
        paths[id_] = str(answer["Location"]).partition("/ed-fi")[2]
    connect("push", target.address, first)
    target.refuses = lambda _, method, path, body: (
        Answer(400, {"title": "No"}) if body and body["studentUniqueId"] == "B" else None
    )

    run("push_changes", "other", "--full")

    assert SentDocument.objects.using(using).get(refused_at__isnull=False).remote_id is None
    assert api.at("/2026").delete(paths["C"]).status_code == 204
    target.refuses = lambda *_: None
    run("push_changes", "other", "--retry")

    assert [each["studentUniqueId"] for each in target.bodies("/ed-fi/students")] == ["A", "B"]
    assert SentDocument.objects.using(using).count() == 2 and not SentDocument.objects.exists()
    assert ChangeConsumer.objects.using(using).get().name == f"push {Connection.objects.get().pk}"
