"""A contract suite for every resource of every standard."""

from typing import Any

from edfi_api.model.surface.resource import ALL_ITEMS, QueryField, Resource
from references.models import Alias, Reference
from tests.conftest import item_path

ADDED_BY_THE_SERVER = ("id", "_etag", "_lastModifiedDate")


def as_sent(members: dict[str, Any]) -> dict[str, Any]:
    """The body without the members that the server adds."""
    return without_links({name: value for name, value in members.items() if name not in ADDED_BY_THE_SERVER})


def without_links(value: Any) -> Any:
    """The value without the links of its reference objects, each of which must have one."""
    if isinstance(value, list):
        return [without_links(item) for item in value]
    if not isinstance(value, dict):
        return value
    for name, member in value.items():
        assert not name.endswith("Reference") or member["link"]["href"].count("/") == 3
    return {name: without_links(member) for name, member in value.items() if name != "link"}


def query(resource: Resource, body: dict[str, Any]) -> dict[str, Any]:
    """All query fields for which the body has values."""
    found = ((field.name, query_value(field, body)) for field in resource.query_fields)
    return {name: value for name, value in found if value is not None}


def key_values(resource: Resource, body: dict[str, Any]) -> dict[str, Any]:
    """The query fields that are part of the identity."""
    fields = [field for field in resource.query_fields if set(field.paths) & set(resource.identity)]
    return {field.name: query_value(field, body) for field in fields}


def query_value(field: QueryField, body: dict[str, Any]) -> Any:
    for path in field.paths:
        value: Any = body
        for step in path.steps:
            value = value[0] if step == ALL_ITEMS else value.get(step) if isinstance(value, dict) else None
            if value is None:
                break
        if value is not None:
            return str(value).lower() if isinstance(value, bool) else value
    return None


def test_create_repeat_read_query_update_delete(api, documents, resource):
    minimal, full = documents.minimal_body(resource), documents.full_body(resource)
    documents.store_targets(resource, full)
    rows = Alias.objects.count(), Reference.objects.count()
    endpoint = f"/data{resource.url_path}"

    created = api.post(endpoint, minimal)
    assert created.status_code == 201, created.content
    path = item_path(created)
    assert path.startswith(endpoint + "/")

    assert api.post(endpoint, minimal).status_code == 200

    read = api.get(path)
    assert read.status_code == 200
    members = read.json()
    assert as_sent(members) == minimal

    unchanged = api.put(path, members)
    assert unchanged.status_code == 204, unchanged.content
    assert unchanged["ETag"] == read["ETag"]

    changed = api.put(path, full | {"id": members["id"]})
    assert changed.status_code == 204, changed.content
    assert (changed["ETag"] == read["ETag"]) == (full == minimal)
    members = api.get(path).json()
    assert as_sent(members) == full

    listed = api.request("get", endpoint, query(resource, full) | {"id": members["id"], "totalCount": "true"}, None)
    assert listed.json() == [members]
    assert listed["Total-Count"] == "1"

    replaced = api.post(endpoint, minimal)
    assert replaced.status_code == 200
    assert as_sent(api.get(path).json()) == minimal

    deleted = api.delete(path)
    assert deleted.status_code == 204, deleted.content
    assert api.get(path).status_code == 404
    assert (Alias.objects.count(), Reference.objects.count()) == rows

    (listed,) = api.get(f"{endpoint}/deletes").json()
    assert (listed["id"], listed["keyValues"]) == (members["id"], key_values(resource, minimal))


def test_an_empty_body_reports_all_required_members(api_without_check, resource):
    response = api_without_check.post(f"/data{resource.url_path}", {"unknown": 1})

    required = {f"$.{name}" for name in resource.json_schema["required"]}
    assert response.status_code == 400
    assert set(response.json()["validationErrors"]) == required
