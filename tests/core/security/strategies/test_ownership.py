"""OwnershipBased over HTTP. See meadowlark/docs/design/authorization.md#ownership."""

import pytest

from edfi_api.core.models import Document
from tests.conftest import ApiTestClient, item_path, new_token
from tests.core.security.strategies.denials import DENIED, problem

OWNERSHIP = "urn:ed-fi:api:security:authorization:ownership"
MISMATCH = {
    "detail": f"{DENIED} The item is not owned by the caller.",
    "type": f"{OWNERSHIP}:access-denied:ownership-mismatch",
    "errors": [],
}


@pytest.fixture
def owner(scenario):
    return scenario.client_by("OwnershipBased")


@pytest.fixture
def other(owner):
    return ApiTestClient(new_token("other", "OwnershipBased"))


def test_the_owner_of_a_document_has_full_access(scenario, owner, other):
    body = scenario.body("Student", studentUniqueId="S")
    path = item_path(owner.post("/students", body))

    assert [each["studentUniqueId"] for each in owner.get("/students").json()] == ["S"]
    assert other.get("/students?totalCount=true")["Total-Count"] == "0"
    for answer in (other.get(path), other.put(path, owner.get(path).json()), other.delete(path)):
        assert problem(answer) == MISMATCH
    assert problem(other.post("/students", body)) == MISMATCH
    assert owner.post("/students", body).status_code == 200
    assert owner.delete(path).status_code == 204


def test_a_repeated_post_by_another_client_is_denied(scenario, owner, other):
    body = scenario.body("Student", studentUniqueId="S")
    statuses = [owner.post("/students", body).status_code for _ in range(3)]

    assert statuses == [201, 200, 200]
    assert problem(other.post("/students", body)) == MISMATCH
    assert owner.post("/students", body).status_code == 200


def test_a_document_without_an_owner_is_inaccessible(scenario, owner):
    path = scenario.student("S")
    Document.objects.filter(document_uuid=path.rsplit("/", 1)[1]).update(created_by=None)

    assert problem(owner.get(path)) == {
        "detail": f"{DENIED} The item is not owned by the caller.",
        "type": f"{OWNERSHIP}:invalid-data:ownership-uninitialized",
        "errors": [
            "The existing resource item has no 'CreatedByOwnershipTokenId' value assigned and thus will never be "
            "accessible to clients using the 'OwnershipBased' authorization strategy."
        ],
    }
