"""Every list that `/docs` offers is answered with 200, sent with the defaults and the examples of the documents."""

from typing import Any

import pytest

from edfi_api.core.security.profiles.loading import read_definitions, store_profiles
from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata.fixed_documents import DOCUMENTS
from tests.conftest import ApiTestClient, http
from tests.core.security.profiles.definitions import profile_xml
from tests.support.offered_requests import offered_lists

LISTED = "/metadata/specifications"


@pytest.fixture
def documents(db: None, surface: Surface, request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """Those of `/docs`, by their names; among them one of a profile, and that of refusals, which tests do not serve."""
    definitions = read_definitions(profile_xml("Student", "IncludeAll", "IncludeAll", name="Portal"))
    store_profiles(definitions, by="tests")
    listed = {each["name"]: http().get(each["endpointUri"]).json() for each in http().get(LISTED).json()}
    request.getfixturevalue("recorder")
    return {**listed, "Submissions": DOCUMENTS["submissions"](surface, "http://testserver")}


def test_every_list_is_answered_as_it_is_offered(documents: dict[str, dict[str, Any]], api: ApiTestClient) -> None:
    lists = [address for document in documents.values() for address in offered_lists(document)]
    authorized = {"HTTP_AUTHORIZATION": f"Bearer {api.token}"}

    answers = {address: http().get(address, **authorized) for address in lists}

    refused = {address: each.status_code for address, each in answers.items() if each.status_code != 200}
    # No list: what a client of a sandbox learns about it.
    assert refused == {"/submissions/v1/sandbox?": 404}
    assert {"Resources", "Descriptors", "Submissions", "Validation", "Discovery", "Portal"} <= documents.keys()
    assert len(lists) > 1000
    assert {"/data/ed-fi/students?limit=25", "/data/ed-fi/students/partitions?number=10"} <= set(lists)
