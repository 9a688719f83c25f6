"""For every resource of both standards and the extension project: what the OpenAPI document of a profile says is true.

The profile names all resources, with rules at random over all kinds of members, modes and depths.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

import pytest
from django.test import Client
from jsonschema_rs import validator_for

from edfi_api.core.documents.visible_part import hidden_items, is_visible_path
from edfi_api.core.security.profiles.loading import store_profiles
from edfi_api.core.storage import store
from edfi_api.core.storage.exceptions import IdentityConflict
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.model.profiles.definition import ProfileDefinition, ResourceParts, Usage
from edfi_api.model.profiles.view import CollectionView, Members, ObjectView, members_of
from edfi_api.model.surface.resource import Resource, Surface
from references.exceptions import UnresolvedReference
from tests.conftest import ApiTestClient
from tests.core.security.profiles.leaves import schema_leaves
from tests.core.security.profiles.random_rules import random_rule, with_filters
from tests.features.loading.bulk.both_ways import rolled_back
from tests.support.databases import DOCUMENTS
from tests.support.factories import STORED_URIS
from tests.support.serving import LAKE_COUNTY, SERVED_BY_DEFAULT, STANDARDS, Served, served

Schema = dict[str, Any]

NAME = "All-At-Random"
SERVER_MEMBERS = {"id", "_etag", "_lastModifiedDate"}


@pytest.fixture(
    params=[
        pytest.param((STANDARDS[0],), marks=pytest.mark.standards),
        pytest.param((STANDARDS[1],), marks=pytest.mark.standards),
        pytest.param((SERVED_BY_DEFAULT,), marks=pytest.mark.standards),  # The next one has the same resources.
        (SERVED_BY_DEFAULT, LAKE_COUNTY),
        pytest.param((STANDARDS[-1],), marks=pytest.mark.standards),
    ],
    ids=str,
)
def school_data(request: pytest.FixtureRequest) -> Served:
    return served(*request.param)


@pytest.fixture
def resources(school_data: Served) -> list[Resource]:
    """All of a standard; with the extension project those that differ."""
    found = school_data.surface.resources
    if school_data.name.endswith(LAKE_COUNTY.name):
        plain = {each.name: each.json_schema for each in served(SERVED_BY_DEFAULT).surface.resources}
        return [each for each in found if plain.get(each.name) != each.json_schema]
    return list(found)


@pytest.fixture
def definition(resources: list[Resource]) -> ProfileDefinition:
    random = Random(NAME)  # noqa: S311  the same rules in each run
    return ProfileDefinition(NAME, tuple(parts_of(random, resource) for resource in resources))


@pytest.fixture
def api_without_check(school_data: Served, api_without_check):
    with school_data.instead():
        yield api_without_check


@pytest.fixture
def document(api_without_check: ApiTestClient, definition: ProfileDefinition) -> dict[str, Any]:
    store_profiles([definition], by="tests")
    return Client().get(f"/metadata/specifications/profiles/{NAME}/resources-spec.json").json()


def parts_of(random: Random, resource: Resource) -> ResourceParts:
    root = members_of(resource).root
    rules = [rule_of(random, root) for _ in Usage]
    return ResourceParts(resource.name.resource, resource.name.project, *rules)


def rule_of(random: Random, root: Members):
    return with_filters(random, random_rule(random, root), root)


def views(
    surface: Surface, definition: ProfileDefinition, usage: Usage
) -> Iterator[tuple[Resource, ObjectView | None]]:
    checked = ProfileChecker(surface).check(definition)
    assert [each for each in checked.findings if each.severity == "error"] == []
    for name, view_of_usage in checked.views.items():
        if name[1] is usage:
            yield surface.by_name[name[0]], view_of_usage


def test_exactly_the_visible_members_are_described(school_data: Served, definition, document) -> None:
    for usage in Usage:
        for resource, view in views(school_data.surface, definition, usage):
            described = set(schema_leaves(described_schema(document, resource, usage)))

            expected = {
                path
                for path in schema_leaves(resource.json_schema)
                if view is None or is_visible_path(list(path), view)
            }
            assert without_server_members(described) == expected, (resource.name, usage)


def test_every_answer_fits_the_readable_schema(
    school_data: Served, document, api_without_check: ApiTestClient, resources: list[Resource]
) -> None:
    for_each_stored(school_data, resources, partial(check_answers, document, api_without_check))


def test_what_fits_the_writable_schema_is_accepted(
    school_data: Served, definition, document, api_without_check: ApiTestClient, resources: list[Resource]
) -> None:
    """Of what is stored in full, so that nothing has to be created that a profile hides in part."""
    found = {resource.name: view for resource, view in views(school_data.surface, definition, Usage.WRITABLE)}

    def check(resource: Resource) -> None:
        whole = school_data.documents.full_body(resource)
        check_writes(document, api_without_check, resource, whole, found[resource.name])

    for_each_stored(school_data, resources, check)


def for_each_stored(school_data: Served, resources: list[Resource], check: Callable[[Resource], None]) -> None:
    """Check each resource while its full document is stored."""

    def all_together() -> list[Resource]:
        without_room = store_all(school_data)
        for resource in resources:
            if resource not in without_room:
                check(resource)
        return [resource for resource in without_room if resource in resources]

    def alone(resource: Resource) -> None:
        body = school_data.documents.full_body(resource)
        school_data.documents.store_targets(resource, body)
        write(school_data, resource, body)
        check(resource)

    for resource in rolled_back(all_together):
        rolled_back(partial(alone, resource))


def check_answers(document: dict[str, Any], api: ApiTestClient, resource: Resource) -> None:
    fits = validator_for(described_schema(document, resource, Usage.READABLE))
    media_type = f"application/vnd.ed-fi.{resource.name.resource}.{NAME}.readable+json".lower()

    response = api.get(f"/data{resource.url_path}", HTTP_ACCEPT=media_type)

    assert (response.status_code, response["Content-Type"]) == (200, media_type), resource.name
    found = response.json()
    assert found
    for each in found:
        assert each.keys() >= SERVER_MEMBERS
        assert [(error.instance_path, error.message) for error in fits.iter_errors(each)] == [], resource.name


def check_writes(
    document: dict[str, Any], api: ApiTestClient, resource: Resource, whole: dict[str, Any], view: ObjectView | None
) -> None:
    schema = described_schema(document, resource, Usage.WRITABLE)
    media_type = f"application/vnd.ed-fi.{resource.name.resource}.{NAME}.writable+json".lower()
    for only_required in (False, True):
        body = fitting(schema, whole, only_required=only_required)
        if view is not None:
            body = shown_by_filters(body, view)
        assert validator_for(schema).is_valid(body), resource.name

        response = api.post(f"/data{resource.url_path}", body, content_type=media_type)

        if response.status_code != 200:
            assert only_required, (resource.name, response.json())
            assert is_about_what_is_stored(response.json(), view), (resource.name, response.json())


def is_about_what_is_stored(problem: dict[str, Any], view: ObjectView | None) -> bool:
    """No schema says that something visible cannot be removed: because it has hidden members, or because no hidden item
    of a required collection remains."""
    if problem["type"] == "urn:ed-fi:api:data-policy-enforced":
        return True
    assert view is not None
    paths = {path.rpartition(".")[2] for path in problem["validationErrors"]}
    return problem["status"] == 400 and paths <= set(filtered_collections(view))


def filtered_collections(view: ObjectView) -> Iterator[str]:
    for name, narrowed in view.narrowed.items():
        if isinstance(narrowed, CollectionView) and narrowed.filter is not None:
            yield name
        below = narrowed.items if isinstance(narrowed, CollectionView) else narrowed
        if below is not None:
            yield from filtered_collections(below)


def shown_by_filters(body: dict[str, Any], view: ObjectView) -> dict[str, Any]:
    """The body without the items that filters refuse: no schema says which."""
    for path in reversed(list(hidden_items(body, view))):
        *steps, last = re.findall(r"[\w]+", path.removeprefix("$"))
        items: Any = body
        for step in steps:
            items = items[int(step) if isinstance(items, list) else step]
        del items[int(last)]
    return body


def store_all(school_data: Served) -> list[Resource]:
    """Store the full document of every resource; minimal ones come first, since full ones can refer to each other.

    Returns those for which there is no room: associations with programs of all kinds have one identity together, so
    only the first is stored, and what refers to another is not.
    """
    without_room: list[Resource] = []
    for body_of in (school_data.documents.minimal_body, school_data.documents.full_body):
        for resource in school_data.surface.resources:
            try:
                write(school_data, resource, body_of(resource))
            except (IdentityConflict, UnresolvedReference):
                without_room.append(resource)
    return without_room


def write(school_data: Served, resource: Resource, body: dict[str, Any]) -> None:
    store.upsert(WriteRequest(school_data.validators[resource.name].validate(body, STORED_URIS), using=DOCUMENTS))


def described_schema(document: dict[str, Any], resource: Resource, usage: Usage) -> Schema:
    """The schema of one document, complete in itself, which allows only what it describes."""
    if usage is Usage.READABLE:
        content = document["paths"][f"{resource.url_path}/{{id}}"]["get"]["responses"]["200"]["content"]
    else:
        content = document["paths"][resource.url_path]["post"]["requestBody"]["content"]
    ((media_type, described),) = content.items()
    assert media_type == f"application/vnd.ed-fi.{resource.name.resource}.{NAME}.{usage}+json".lower()
    return resolved(described["schema"], document["components"]["schemas"])


def resolved(schema: Schema, components: dict[str, Schema]) -> Schema:
    if reference := schema.get("$ref"):
        return resolved(components[reference.rpartition("/")[2]], components)
    if schema["type"] == "array":
        return {**schema, "items": resolved(schema["items"], components)}
    if schema["type"] != "object":
        return schema
    properties = {name: resolved(each, components) for name, each in schema["properties"].items()}
    return {**schema, "properties": properties, "additionalProperties": False}


def without_server_members(paths: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    return {path for path in paths if path[0] not in SERVER_MEMBERS and "link" not in path}


def fitting(schema: Schema, value: Any, *, only_required: bool) -> Any:
    """Return what the schema describes, or requires, of a valid value."""
    match schema["type"]:
        case "object":
            names = schema.get("required", []) if only_required else schema["properties"]
            # The body of a POST has no `id`.
            return {
                name: fitting(schema["properties"][name], value[name], only_required=only_required)
                for name in names
                if name != "id"
            }
        case "array":
            return [fitting(schema["items"], item, only_required=only_required) for item in value]
    return value
