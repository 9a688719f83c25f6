"""No cache keeps what only one client may read."""

import pytest

from tests.conftest import http, item_path
from tests.support.factories import STUDENT
from tests.web.batch.batch_client import BatchClient


@pytest.fixture
def student(api) -> str:
    return item_path(api.post("/students", STUDENT))


def test_every_private_answer_forbids_to_store_it(api, student) -> None:
    tag = api.get(student)["ETag"]
    versions = "/changeQueries/v1/availableChangeVersions"
    answers = [
        api.get("/students"),
        api.get("/students/partitions"),
        api.get("/students/deletes"),
        api.get("/students/keyChanges"),
        api.get(student),
        api.get(student, HTTP_IF_NONE_MATCH=tag),
        api.get("/students/nonsense"),
        api.get("/nonsense"),
        api.post("/students", STUDENT),
        api.post("/students", {}),
        api.get(student.replace("/data/", "/history/v1/")),
        api.get(student.replace("/data/", "/relations/v1/")),
        api.get(versions),
        api.get("/submissions/v1/refusals"),
        api.get("/submissions/v1/refusals", HTTP_ACCEPT="text/csv"),
        BatchClient(api.token).send([]),
        *[
            http().get(f"/validation/v1/{name}", HTTP_AUTHORIZATION=f"Bearer {api.token}", HTTP_ACCEPT=accept)
            for name in ("validationRules", "validationRuns", "validationResults")
            for accept in ("application/json", "text/csv")
        ],
    ]

    assert {answer.headers.get("Cache-Control") for answer in answers} == {"no-store"}


def test_what_is_public_may_be_stored(db) -> None:
    assert http().get("/metadata/specifications").headers["Cache-Control"] == "no-cache"
    assert "Cache-Control" not in http().get("/health").headers
