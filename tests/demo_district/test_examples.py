"""The example of every resource, as the OpenAPI documents have it, is accepted by a server with the demo district."""

from typing import Any

from tests.conftest import ApiTestClient, http, new_token
from tests.serving import Served

SPECIFICATIONS = ("resources-spec.json", "descriptors-spec.json")


def documented() -> dict[str, dict[str, Any]]:
    """The path items of both documents."""
    documents = (http().get(f"/metadata/specifications/{name}").json() for name in SPECIFICATIONS)
    return {path: item for document in documents for path, item in document["paths"].items()}


def example(operation: dict[str, Any]) -> dict[str, Any]:
    return operation["requestBody"]["content"]["application/json"]["example"]


def test_every_example_is_accepted_in_loading_order(demo_server: Served) -> None:
    paths = documented()
    api = ApiTestClient(new_token())
    order = [step["resource"] for step in http().get("/metadata/data/v3/dependencies").json()]
    examples = {path: example(item["post"]) for path, item in paths.items() if "post" in item}

    # School years are not in it: nothing has to be loaded before them.
    statuses = {path: api.post(f"/data{path}", examples[path]) for path in ("/ed-fi/schoolYearTypes", *order)}

    assert len(examples) == len(statuses) == {"5.2": 349, "3.3.1-b": 297}[demo_server.name]
    assert {path: answer.content for path, answer in statuses.items() if answer.status_code not in (200, 201)} == {}
    assert statuses["/ed-fi/students"].status_code == 200
    assert statuses["/ed-fi/studentSchoolAttendanceEvents"].status_code == 201
    assert not any("id" in body for body in examples.values())


def test_the_example_of_a_put_is_accepted_with_the_id_of_its_url(demo_server: Served) -> None:
    api = ApiTestClient(new_token())
    [student] = api.get("/students?studentUniqueId=604822").json()
    body = example(documented()["/ed-fi/students/{id}"]["put"]) | {"id": student["id"], "firstName": "May"}

    assert api.put(f"/students/{student['id']}", body).status_code == 204
