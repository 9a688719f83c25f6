"""Ids in the form of the ODS, 32 digits, are read wherever a client sends one."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from tests.conftest import ApiTestClient, http, item_path
from tests.support.factories import STUDENT
from tests.support.serving import like_the_ods


@pytest.fixture(params=["default", "ods"])
def student(request: Any, api: ApiTestClient) -> Iterator[tuple[ApiTestClient, str]]:
    """A client and the id, in 32 digits, of a stored student."""
    with like_the_ods() if request.param == "ods" else nullcontext():
        location = item_path(api.post("/students", STUDENT))
        yield api, location.rpartition("/")[2].replace("-", "")


def with_hyphens(digits: str) -> str:
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def test_a_document_is_read(student: tuple[ApiTestClient, str]) -> None:
    api, digits = student

    for written in (digits, digits.upper(), with_hyphens(digits), f"{digits}/"):
        assert api.get(f"/students/{written}").json()["studentUniqueId"] == "604822"
        assert api.request("head", f"/students/{written}").status_code == 200
    assert len(api.get(f"/students?id={digits.upper()}").json()) == 1
    for written in (digits[:-1], f"{digits}0", f"{digits[:16]}-{digits[16:]}", f"{{{with_hyphens(digits)}}}"):
        assert api.get(f"/students/{written}").status_code in (400, 404)


def test_a_document_is_replaced(student: tuple[ApiTestClient, str]) -> None:
    api, digits = student

    for number, path in enumerate((digits, digits.upper(), with_hyphens(digits))):
        for id_ in (digits, digits.upper(), with_hyphens(digits)):
            name = f"{id_[:3]}{number}"
            put = api.put(f"/students/{path}", STUDENT | {"id": id_, "firstName": name})
            assert put.status_code == 204, put.content
            assert api.get(f"/students/{digits}").json()["firstName"] == name


def test_a_document_is_deleted(student: tuple[ApiTestClient, str]) -> None:
    api, digits = student

    assert api.delete(f"/students/{digits}").status_code == 204

    assert api.get(f"/students/{with_hyphens(digits)}").status_code == 404
    [deleted] = api.get("/students/deletes").json()
    assert deleted["id"].replace("-", "") == digits


def test_its_relations_and_its_history_are_read(student: tuple[ApiTestClient, str]) -> None:
    api, digits = student

    for written in (digits, digits.upper(), with_hyphens(digits)):
        assert api.get(f"/relations/v1/ed-fi/students/{written}").status_code == 200
        assert api.get(f"/history/v1/ed-fi/students/{written}").status_code == 200


def test_a_batch_updates_and_deletes_by_it(student: tuple[ApiTestClient, str]) -> None:
    api, digits = student
    operation = {"resource": "/ed-fi/students", "id": digits}

    for each in (
        {"op": "update", "document": STUDENT | {"id": digits.upper(), "firstName": "June"}},
        {"op": "delete"},
    ):
        sent = http().post("/batch", [operation | each], "application/json", HTTP_AUTHORIZATION=f"Bearer {api.token}")
        assert b'"status":204' in b"".join(sent)
    assert api.get(f"/students/{digits}").status_code == 404
