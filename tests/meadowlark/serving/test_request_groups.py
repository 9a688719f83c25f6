"""Documents that are requested while others are answered are read together; each answer is that of a request alone."""

import json
import time
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections

from edfi_api.core.security.requests.authentication import forget
from edfi_api.core.storage.driver import execution, prepared_statements
from meadowlark.serving.request_groups import Member, RequestGroups
from meadowlark.serving.short_way import PlainRequest, ReadWithOthers
from meadowlark.serving.turns import Turns
from tests.conftest import new_token
from tests.support.factories import STUDENT
from tests.whole.architecture.requests import HandedOver, content, engine_in_a_thread

STUDENTS = "/data/ed-fi/students"
MISSING = f"{STUDENTS}/{UUID(int=1)}"

SCHOOL = {
    "nameOfInstitution": "Lakeside",
    "educationOrganizationCategories": [
        {"educationOrganizationCategoryDescriptor": "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#Value"}
    ],
    "gradeLevels": [{"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Value"}],
}

PLAIN = PlainRequest(b"", None, None, 0, None)

Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture
def engine(transactional_db: None, insert_client: Any) -> Iterator[HandedOver]:
    with engine_in_a_thread(insert_client()) as engine:
        yield engine


@pytest.fixture
def students(engine: HandedOver) -> list[str]:
    """Their addresses. One of them was read, so further requests go the short way."""
    addresses = [post(engine, STUDENTS, STUDENT | {"studentUniqueId": f"group-{number}"}) for number in range(3)]
    alone(engine, addresses[0])
    return addresses


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of statements of each group that was executed."""
    numbers, run = [], prepared_statements.run_together

    def counting(statements: Any, connection: Any) -> Any:
        numbers.append(len(statements))
        return run(statements, connection)

    monkeypatch.setattr(execution, "run_together", counting)
    return numbers


def post(engine: HandedOver, path: str, body: dict[str, Any]) -> str:
    """The address of the new document."""
    engine.called(lambda: engine.handle("POST", path, content(body)))
    [(_, headers, _)] = latest(engine, 1)
    return headers["Location"].removeprefix("http://testserver")


def descriptor(name: str) -> dict[str, Any]:
    return {"namespace": f"uri://ed-fi.org/{name}Descriptor", "codeValue": "Value", "shortDescription": "Value"}


def alone(engine: HandedOver, *addresses: str, **headers: str) -> list[Answer]:
    for address in addresses:
        engine.called(lambda address=address: engine.handle("GET", address, **headers))
    return latest(engine, len(addresses))


def together(engine: HandedOver, *addresses: str, **headers: str) -> list[Answer]:
    """The answers to requests that arrive while the only thread is at work."""

    def arrive() -> None:
        for address in addresses:
            engine.handle("GET", address, **headers)

    engine.called(lambda: engine._gateway.turns.take("another", arrive))
    return latest(engine, len(addresses))


def latest(engine: HandedOver, number: int) -> list[Answer]:
    return [(status, dict(headers), body) for status, headers, body in engine.answers[-number:]]


def without_what_differs(answers: list[Answer]) -> list[Any]:
    """Status, headers but for the correlation id, and body, in which it is, too."""
    return [
        (status, {name: value for name, value in headers.items() if name != "correlationid"}, _body(body))
        for status, headers, body in answers
    ]


def _body(text: bytes) -> Any:
    body = json.loads(text)
    body.pop("correlationId", None)
    return body


def end_sessions() -> None:
    """Those of the pool."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_documents_are_read_in_one_round_trip(engine: HandedOver, students: list[str], round_trips: list[int]) -> None:
    expected = alone(engine, students[0], MISSING, students[1], students[2])

    found = together(engine, students[0], MISSING, students[1], students[2])

    assert [status for status, *_ in found] == [200, 404, 200, 200]
    assert without_what_differs(found) == without_what_differs(expected)
    assert len({headers["correlationid"] for _, headers, _ in found}) == 4
    assert round_trips == [4]


def test_a_group_has_requests_of_all_clients(engine: HandedOver, students: list[str], round_trips: list[int]) -> None:
    """A client with many connections does not make another one wait for all of them."""
    other = {"authorization": f"Bearer {new_token('other')}"}
    alone(engine, students[0], **other)

    def arrive() -> None:
        for _ in range(40):
            engine.handle("GET", students[0])
        engine.handle("GET", students[1], **other)

    engine.called(lambda: engine._gateway.turns.take("another", arrive))
    answers = [_body(body)["studentUniqueId"] for _, _, body in latest(engine, 41)]

    assert answers.index("group-1") == 1
    assert round_trips == [16, 16, 9]


def test_a_denied_read_is_refused_with_its_reason(
    engine: HandedOver, students: list[str], round_trips: list[int]
) -> None:
    post(engine, "/data/ed-fi/educationOrganizationCategoryDescriptors", descriptor("EducationOrganizationCategory"))
    post(engine, "/data/ed-fi/gradeLevelDescriptors", descriptor("GradeLevel"))
    addresses = []
    for school in ({"schoolId": 1}, {"schoolId": 2}):
        post(engine, "/data/ed-fi/schools", SCHOOL | school)
        period = {"classPeriodName": "First", "schoolReference": school}
        addresses.append(post(engine, "/data/ed-fi/classPeriods", period))
    related = {"authorization": f"Bearer {new_token('related', 'SISVendor', education_organization_ids=[1])}"}
    alone(engine, *addresses, **related)  # The claim set is compiled.
    expected = alone(engine, *addresses, **related)

    found = together(engine, *addresses, **related)

    assert [status for status, *_ in found] == [200, 403]
    assert without_what_differs(found) == without_what_differs(expected)
    assert round_trips == [2]


def test_a_token_that_ends_meanwhile_is_refused(engine: HandedOver, students: list[str]) -> None:
    def arrive() -> None:
        for address in students:
            engine.handle("GET", address)
        forget(engine._token)

    with connection.cursor() as cursor:
        cursor.execute("UPDATE oauth2_provider_accesstoken SET expires = now() - interval '1 hour'")
    engine.called(lambda: engine._gateway.turns.take("another", arrive))

    assert [status for status, *_ in latest(engine, 3)] == [401] * 3


def test_lost_connections_are_replaced(engine: HandedOver, students: list[str], round_trips: list[int]) -> None:
    end_sessions()

    found = together(engine, *students)

    assert [status for status, *_ in found] == [200] * 3
    assert round_trips == [3, 3]


def test_without_a_database_each_is_refused(
    engine: HandedOver, students: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connections.settings["default"], "HOST", "127.0.0.1")
    monkeypatch.setitem(connections.settings["default"], "PORT", "1")
    end_sessions()

    found = together(engine, *students)

    assert [status for status, *_ in found] == [503] * 3


def test_statements_that_are_no_longer_prepared_are_executed_again(
    engine: HandedOver, students: list[str], round_trips: list[int]
) -> None:
    """After DEALLOCATE ALL, by a pooler between two clients."""

    def deallocate() -> None:
        with connections["default"].cursor() as cursor:
            cursor.execute("DEALLOCATE ALL")
        engine._gateway.prepared._put_back()  # type: ignore[union-attr]

    engine.called(deallocate)

    found = together(engine, *students)

    assert [status for status, *_ in found] == [200] * 3
    assert round_trips == [3]


def test_large_documents_are_read_alone(
    engine: HandedOver, students: list[str], round_trips: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not all of a group are in memory at a time."""
    monkeypatch.setattr(prepared_statements, "_MOST_BYTES_TOGETHER", 1)

    found = together(engine, *students)

    assert sorted(_body(body)["studentUniqueId"] for *_, body in found) == ["group-0", "group-1", "group-2"]
    assert round_trips == [3]


def test_a_client_of_whom_too_many_wait_is_refused(engine: HandedOver, students: list[str]) -> None:
    engine._gateway.groups._most_waiting = 1  # type: ignore[union-attr]

    found = together(engine, *students)

    # One of the refusals is sent a while later.
    assert [status for status, *_ in found[1:]] == [429, 200]


@pytest.mark.parametrize(("seconds", "begun"), [(0, ["first"]), (0.03, ["first", "second"])])
def test_groups_do_not_wait_for_a_database_that_is_far_away(seconds: float, begun: list[str]) -> None:
    groups = RequestGroups(Turns(2, most_waiting=10), prepared=None, most_at_work=2, most_waiting=10)  # type: ignore[arg-type]
    let_go, done = Event(), []
    groups.add(Member("one", PLAIN, lambda _: time.sleep(seconds)))

    def add(name: str) -> Thread:
        begins = Event()

        def answer(_: ReadWithOthers) -> None:
            done.append(name)
            begins.set()
            let_go.wait(30)

        thread = Thread(target=groups.add, args=(Member("one", PLAIN, answer),))
        thread.start()
        if name in begun:
            assert begins.wait(30)
        else:  # It waits, without a thread.
            thread.join(30)
        return thread

    threads = [add("first"), add("second")]
    at_work = done.copy()
    let_go.set()
    for thread in threads:
        thread.join(30)

    assert at_work == begun
    assert done == ["first", "second"]


def test_a_group_is_never_refused_a_turn() -> None:
    turns, done = Turns(1, most_waiting=0), []
    groups = RequestGroups(turns, prepared=None, most_at_work=1, most_waiting=10)  # type: ignore[arg-type]

    turns.take("another", lambda: groups.add(Member("one", PLAIN, lambda _: done.append("one"))))

    assert done == ["one"]
