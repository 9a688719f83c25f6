"""What a prepared request does not answer itself is answered by the view, and not done again."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from edfi_api.core.queries import collection
from edfi_api.core.storage.store import Reading
from edfi_api.core.writes import writing
from edfi_api.web.viewsets import prepared_actions
from tests.support.factories import STUDENT
from tests.whole.architecture.requests import HandedOver, content, engine_in_a_thread

STUDENTS = "/data/ed-fi/students"


@pytest.fixture
def engine(transactional_db: None, insert_client: Any) -> Iterator[HandedOver]:
    with engine_in_a_thread(insert_client()) as engine:
        yield engine


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[Any]]:
    def counted(owner: Any, name: str) -> list[Any]:
        calls, function = [], getattr(owner, name)

        def counting(*arguments: Any, **named: Any) -> Any:
            calls.append(arguments)
            return function(*arguments, **named)

        monkeypatch.setattr(owner, name, counting)
        return calls

    return counted


def answers(engine: HandedOver, *requests: tuple[Any, ...]) -> list[tuple[int, dict[str, str], bytes]]:
    for request in requests:
        engine.called(lambda request=request: engine.handle(*request))
    return [(status, dict(headers), body) for status, headers, body in engine.answers[-len(requests) :]]


def test_a_refused_write_is_carried_out_once(engine: HandedOver, counted: Any) -> None:
    accepted, refused = content(STUDENT), content(STUDENT | {"birthDate": "2010-02-30"})
    answers(engine, ("POST", STUDENTS, accepted))
    upserts = counted(writing, "upsert")

    (again, *_), (status, _, body) = answers(engine, ("POST", STUDENTS, accepted), ("POST", STUDENTS, refused))

    assert (again, status, len(upserts)) == (200, 400, 2)
    assert json.loads(body)["type"] == "urn:ed-fi:api:bad-request:data-validation-failed"


def test_a_document_that_does_not_exist_is_looked_for_once(engine: HandedOver, counted: Any) -> None:
    [(_, headers, _)] = answers(engine, ("POST", STUDENTS, content(STUDENT)))
    path = headers["Location"].removeprefix("http://testserver")
    answers(engine, ("GET", path))
    read = counted(Reading, "__call__")

    found, missing = answers(engine, ("GET", path), ("GET", f"{STUDENTS}/{UUID(int=1)}"))

    assert (found[0], missing[0], len(read)) == (200, 404, 2)


def test_a_large_answer_is_made_once(engine: HandedOver, counted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ("GET", f"{STUDENTS}?limit=1")
    answers(engine, ("POST", STUDENTS, content(STUDENT)))
    first, short = answers(engine, page, page)
    monkeypatch.setattr(prepared_actions, "LARGEST_ANSWER", 1)
    pages = counted(collection, "page")

    [long] = answers(engine, page)

    assert len(pages) == 1
    assert long[0] == short[0] == 200
    assert long[2] == short[2] == first[2]


def test_tokens_are_not_kept(engine: HandedOver) -> None:
    answers(engine, ("POST", STUDENTS, content(STUDENT)), ("GET", f"{STUDENTS}?limit=1"))
    table = engine._gateway.prepared

    assert table is not None and len(table._kept) >= 2
    assert engine._token not in repr([(kind, kept.variables, kept.headers) for kind, kept in table._kept.items()])
