"""Rules, the documents that they look at, and what their runs leave in the database."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.conftest import ApiTestClient
from tests.features.validation.district import District
from tests.features.validation.rules import Rules


@pytest.fixture
def rules(tmp_path: Path, settings) -> Rules:
    """No rules but those that the test writes."""
    settings.EDFI_API = {**settings.EDFI_API, "RULES": (str(tmp_path),), "BUNDLED_RULES": False}
    return Rules(tmp_path)


@pytest.fixture
def rows() -> Callable[..., list[tuple[Any, ...]]]:
    """The rows of a statement."""

    def execute(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            return list(cursor.execute(statement, parameters))

    return execute


def student(api: ApiTestClient, unique_id: str, **members: Any) -> str:
    """A stored student; the path of the document."""
    body = {"studentUniqueId": unique_id, "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    answer = api.post("/students", body | members)
    assert answer.status_code in (200, 201), answer.content
    return str(answer.headers["Location"]).partition("/data")[2].join(["/data", ""])


@pytest.fixture
def enroll(committing_api, documents, resource_named) -> Callable[[str, int], str]:
    """Stores an enrollment of a student at a school, and both if they are missing; the path of the enrollment."""
    documents.store(resource_named("StudentSchoolAssociation"))
    [found] = committing_api.get("/studentSchoolAssociations").json()
    enrollment = _without_envelope(found)
    school = _without_envelope(committing_api.get("/schools").json()[0])
    student = _without_envelope(committing_api.get("/students").json()[0])
    assert committing_api.delete(f"/studentSchoolAssociations/{found['id']}").status_code == 204

    def store(unique_id: str, school_id: int) -> str:
        committing_api.post("/schools", school | {"schoolId": school_id})
        committing_api.post("/students", student | {"studentUniqueId": unique_id})
        body = enrollment | {
            "studentReference": {"studentUniqueId": unique_id},
            "schoolReference": {"schoolId": school_id},
        }
        answer = committing_api.post("/studentSchoolAssociations", body)
        assert answer.status_code == 201, answer.content
        return "/studentSchoolAssociations/" + answer["Location"].rpartition("/")[2]

    return store


@pytest.fixture
def district(committing_api, documents, resource_named) -> District:
    return District(committing_api, documents, resource_named)


def _without_envelope(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name[0] != "_" and name != "id"}


# What a rule calls while it runs, once.
MEANTIME: list[Callable[[], None]] = []
OPEN = "SELECT natural_key, message FROM validation_result WHERE resolved_at IS NULL ORDER BY natural_key"
