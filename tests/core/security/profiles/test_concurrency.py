"""Profiled and other writers of the same documents: nothing hidden is lost, no stale merge is stored."""

from typing import Any

import pytest
from django.db import transaction

from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.core.security.profiles.conftest import ClientOf, Store
from tests.support.databases import DOCUMENTS
from tests.whole.concurrency.concurrently import at_once, in_background, wait_until_one_waits_for_us
from tests.whole.concurrency.protocol import statements_sent

STUDENT = {"studentUniqueId": "604822", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
HIDES_MIDDLE_NAME = 'ExcludeOnly:<Property name="middleName"/>'


@pytest.fixture
def path(committing_api) -> str:
    return item_path(committing_api.post("/students", STUDENT | {"middleName": "Ann"}))


@pytest.fixture
def client(committing_api, store: Store, client_of: ClientOf):
    store("Part", "Student", read=HIDES_MIDDLE_NAME, write=HIDES_MIDDLE_NAME)
    return client_of("Part")


def with_id(path: str, **changes: Any) -> dict[str, Any]:
    return STUDENT | {"id": path.rsplit("/", 1)[1]} | changes


def stored() -> dict[str, Any]:
    return Document.objects.get(resource_type__name="Student").body


class _TakenBack(Exception):
    """Ends a transaction without its changes."""


@pytest.mark.parametrize("by_key", [True, False])
@pytest.mark.parametrize("commits", [True, False])
def test_a_merge_starts_over_behind_a_concurrent_writer(committing_api, client, path, by_key, commits) -> None:
    """The other writer changes a hidden member between what the merge reads and what it writes."""
    sent = with_id(path, firstName="May")
    if by_key:
        del sent["id"]

    def merge():
        return client.post("/students", sent) if by_key else client.put(path, sent)

    try:
        with transaction.atomic(using=DOCUMENTS):
            committing_api.put(path, with_id(path, middleName="Eve", lastSurname="Ruiz"))
            running = in_background(merge)
            wait_until_one_waits_for_us(running)
            if not commits:
                raise _TakenBack
    except _TakenBack:
        pass

    assert running.result(30).status_code == (200 if by_key else 204)
    assert stored() == STUDENT | {"firstName": "May", "middleName": "Eve" if commits else "Ann"}


@pytest.mark.parametrize("change", [{"lastSurname": "Ruiz"}, {"middleName": "Eve"}])
def test_if_match_keeps_its_promise_behind_a_concurrent_writer(committing_api, client, path, change) -> None:
    tag = client.get(path)["ETag"]
    with transaction.atomic(using=DOCUMENTS):
        committing_api.put(path, with_id(path, **change))
        running = in_background(lambda: client.put(path, with_id(path, firstName="May"), HTTP_IF_MATCH=tag))
        wait_until_one_waits_for_us(running)

    assert running.result(30).status_code == 412
    assert stored() == {name: value for name, value in STUDENT.items() if name != "middleName"} | change


def test_a_merge_behind_a_delete_creates_or_finds_nothing(committing_api, client, path) -> None:
    new = {name: value for name, value in with_id(path).items() if name != "id"}
    with transaction.atomic(using=DOCUMENTS):
        committing_api.delete(path)
        put = in_background(lambda: client.put(path, with_id(path, firstName="May")))
        wait_until_one_waits_for_us(put)
        post = in_background(lambda: client.post("/students", new))
    statuses = {put.result(30).status_code, post.result(30).status_code}

    assert put.result().status_code == 404
    assert statuses == {404, 201}
    assert stored() == STUDENT


def test_two_merges_that_insert_the_same_document_make_one(client, committing_api) -> None:
    responses = at_once(
        *(lambda name=name: client.post("/students", STUDENT | {"firstName": name}) for name in ("Ada", "Eva", "Ida"))
    )

    assert sorted(each.status_code for each in responses) == [200, 200, 201]
    assert stored()["firstName"] in {"Ada", "Eva", "Ida"}


def test_many_writers_of_one_document_lose_nothing(committing_api, client, path, store, client_of) -> None:
    """Each writes its own member through a part of its own; in the end every last value is there."""
    members = ("middleName", "maidenName", "generationCodeSuffix")
    for name in members:
        store(f"Only-{name}", "Student", write=f'IncludeOnly:<Property name="{name}"/>')
    clients = {name: client_of(f"Only-{name}") for name in members}

    def write(name: str) -> list[int]:
        sent = {"studentUniqueId": "604822", "id": path.rsplit("/", 1)[1]}
        return [clients[name].put(path, sent | {name: f"V{turn}"}).status_code for turn in range(8)]

    statuses = at_once(*(lambda name=name: write(name) for name in members))

    assert {status for each in statuses for status in each} == {204}
    assert stored() == STUDENT | dict.fromkeys(members, "V7")


def test_a_merge_and_a_key_change_of_a_hidden_target(
    committing_api, store, client_of, documents, resource_named
) -> None:
    """The cascade of a key change into a hidden reference is not undone by a merge that has read the body before."""
    documents.store(resource_named("School"))
    school = {"schoolReference": {"schoolId": 1008}}
    period = item_path(committing_api.post("/classPeriods", school | {"classPeriodName": "P1"}))
    reference = {"classPeriods": [{"classPeriodReference": {"classPeriodName": "P1", "schoolId": 1008}}]}
    schedule = school | {"bellScheduleName": "S"}
    path = item_path(committing_api.post("/bellSchedules", schedule | reference))
    store("Part", "BellSchedule", write='ExcludeOnly:<Property name="classPeriods"/>')
    client = client_of("Part")
    sent = schedule | {"totalInstructionalTime": 5, "id": path.rsplit("/", 1)[1]}

    with transaction.atomic(using=DOCUMENTS):
        renamed = school | {"classPeriodName": "P9", "id": period.rsplit("/", 1)[1]}
        assert committing_api.put(period, renamed).status_code == 204
        running = in_background(lambda: client.put(path, sent))
        wait_until_one_waits_for_us(running)

    assert running.result(30).status_code == 204
    body = Document.objects.get(resource_type__name="BellSchedule").body
    assert body["classPeriods"] == [{"classPeriodReference": {"classPeriodName": "P9", "schoolId": 1008}}]
    assert body["totalInstructionalTime"] == 5


def test_profiled_writers_key_changers_and_deleters_end_as_in_some_order(
    committing_api, store, client_of, documents, resource_named
):
    """A hidden reference ends with the last key of its target, whatever else was written meanwhile."""
    documents.store(resource_named("School"))
    school = {"schoolReference": {"schoolId": 1008}}
    period = item_path(committing_api.post("/classPeriods", school | {"classPeriodName": "P0"}))
    reference = {"classPeriods": [{"classPeriodReference": {"classPeriodName": "P0", "schoolId": 1008}}]}
    schedule = school | {"bellScheduleName": "S"}
    path = item_path(committing_api.post("/bellSchedules", schedule | reference | {"endTime": "15:00:00"}))
    store("Part", "BellSchedule", write='ExcludeOnly:<Property name="classPeriods"/><Property name="endTime"/>')
    client = client_of("Part")

    def rename() -> list[int]:
        ids = school | {"id": period.rsplit("/", 1)[1]}
        return [committing_api.put(period, ids | {"classPeriodName": f"P{turn}"}).status_code for turn in range(1, 9)]

    def write() -> list[int]:
        ids = schedule | {"id": path.rsplit("/", 1)[1]}
        return [client.put(path, ids | {"totalInstructionalTime": turn}).status_code for turn in range(8)]

    def upsert() -> list[int]:
        return [
            client.post("/bellSchedules", schedule | {"alternateDayName": f"D{turn}"}).status_code for turn in range(8)
        ]

    def delete() -> list[int]:
        return [committing_api.delete(period).status_code for _ in range(8)]

    renamed, written, upserted, deleted = at_once(rename, write, upsert, delete)

    assert (set(renamed), set(written), set(upserted), set(deleted)) == ({204}, {204}, {200}, {409})
    body = Document.objects.get(resource_type__name="BellSchedule").body
    assert body["classPeriods"] == [{"classPeriodReference": {"classPeriodName": "P8", "schoolId": 1008}}]
    assert body["endTime"] == "15:00:00"
    last = {name: body[name] for name in ("totalInstructionalTime", "alternateDayName") if name in body}
    assert last in ({"totalInstructionalTime": 7}, {"alternateDayName": "D7"})


def test_a_profiled_read_is_one_statement_and_a_profiled_write_two(client, path, tmp_path) -> None:
    turns = iter(range(100))
    requests = {
        "get": (lambda: client.get(path), 1),
        "page": (lambda: client.get("/students"), 1),
        "put": (lambda: client.put(path, with_id(path, firstName=f"V{next(turns)}")), 2),
        "post": (lambda: client.post("/students", STUDENT | {"firstName": f"V{next(turns)}"}), 2),
        "insert": (lambda: client.post("/students", STUDENT | {"studentUniqueId": f"V{next(turns)}"}), 2),
        "same": (lambda: client.post("/students", STUDENT | {"studentUniqueId": "V9"}), 2),
    }
    for request, expected in requests.values():
        request()
        request()
        with statements_sent(tmp_path) as sent:
            assert request().status_code < 300
        assert len(sent) == expected, sent
