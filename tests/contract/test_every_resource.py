"""One suite that every resource of the standard passes: create, repeat, read, query, update, delete."""

import pytest

from edfi_api.startup import current_surface
from references.models import Alias, Reference
from tests.conftest import item_path

RESOURCES = current_surface().resources


@pytest.fixture(params=RESOURCES, ids=lambda resource: resource.endpoint)
def resource(request):
    return request.param


@pytest.fixture(params=["minimal_body", "full_body"])
def body(request, documents, resource):
    return getattr(documents, request.param)(resource)


def without_links(value):
    """The value as a client sent it; each reference object must have had a link."""
    if isinstance(value, list):
        return [without_links(item) for item in value]
    if not isinstance(value, dict):
        return value
    for name, member in value.items():
        assert not name.endswith("Reference") or member["link"]["href"].count("/") == 3
    return {name: without_links(member) for name, member in value.items() if name != "link"}


def test_a_document_lives_its_life(api, documents, resource, body):
    documents.store_targets(resource, body)
    endpoint = f"/data{resource.url_path}"

    created = api.post(endpoint, body)
    assert created.status_code == 201, created.content
    path = item_path(created)
    assert path.startswith(endpoint + "/")

    assert api.post(endpoint, body).status_code == 200

    read = api.get(path)
    assert read.status_code == 200
    members = read.json()
    served = {name: members[name] for name in members if name not in ("id", "_etag", "_lastModifiedDate")}
    assert without_links(served) == body

    listed = api.get(f"{endpoint}?id={members['id']}&totalCount=true")
    assert listed.json() == [members]
    assert listed["Total-Count"] == "1"

    updated = api.put(path, members)
    assert updated.status_code == 204, updated.content
    assert updated["ETag"] == read["ETag"]

    deleted = api.delete(path)
    assert deleted.status_code == 204, deleted.content
    assert api.get(path).status_code == 404


def test_nothing_is_left_of_a_deleted_document(api, documents, resource, body):
    documents.store_targets(resource, body)
    aliases, references = Alias.objects.count(), Reference.objects.count()

    api.delete(item_path(api.post(f"/data{resource.url_path}", body)))

    assert (Alias.objects.count(), Reference.objects.count()) == (aliases, references)


def test_an_empty_body_names_what_is_required(api, resource):
    response = api.post(f"/data{resource.url_path}", {"unknown": 1})

    required = {f"$.{name}" for name in resource.json_schema["required"]}
    assert response.status_code == 400
    assert set(response.json()["validationErrors"]) == required
