"""Every operation of every specification can be told from the others, and comes with a body that is accepted."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from edfi_api.features.management_api.openapi_schema import document as management_document
from edfi_api.features.management_api.urls import all_addresses
from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata.fixed_documents import DOCUMENTS
from edfi_api.web.metadata.openapi import descriptors_document, resources_document
from tests.conftest import ApiTestClient
from tests.web.batch.batch_client import BatchClient, parts

OpenApi = dict[str, Any]
METHODS = {"get", "post", "put", "delete"}


def operations(document: OpenApi) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS & item.keys():
            yield f"{method} {path}", item[method]


@pytest.fixture
def specifications(surface: Surface, settings: Any) -> dict[str, OpenApi]:
    settings.EDFI_API = {**settings.EDFI_API, "VALIDATION_REQUESTS": True}
    builders = {**DOCUMENTS, "resources": resources_document, "descriptors": descriptors_document}
    documents = {name: build(surface, "http://testserver") for name, build in builders.items()}
    return {**documents, "management": management_document(all_addresses(), "http://testserver/config")}


def test_every_operation_has_a_summary_of_its_own(specifications: dict[str, OpenApi]) -> None:
    repeated = {
        name: [
            text
            for text, count in Counter(each.get("summary") for _, each in operations(document)).items()
            if count > 1
        ]
        for name, document in specifications.items()
    }

    assert len(specifications) == 10
    assert {name: texts for name, texts in repeated.items() if texts} == {}


def test_every_body_has_an_example(specifications: dict[str, OpenApi]) -> None:
    """The management API has none: what its bodies name are ids of other items."""
    without = [
        f"{name}: {operation}"
        for name, document in specifications.items()
        if name != "management"
        for operation, described in operations(document)
        for content in described.get("requestBody", {}).get("content", {}).values()
        if "example" not in content
    ]

    assert without == []


@pytest.mark.parametrize("media_type", ["application/json", "application/x-ndjson"])
def test_the_example_of_a_batch_is_accepted(api: ApiTestClient, client: Client, media_type: str) -> None:
    document = client.get("/metadata/specifications/batch-spec.json").json()
    example = document["paths"]["/batch"]["post"]["requestBody"]["content"][media_type]["example"]
    content = example if isinstance(example, str) else json.dumps(example)

    *results, summary = parts(BatchClient(api.token).send(content.encode(), content_type=media_type))

    assert [each["status"] for each in results] == [201]
    assert summary["summary"]["refused"] == 0
