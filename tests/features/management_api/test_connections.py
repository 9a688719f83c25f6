"""`/v3/connections`: connections to other Ed-Fi APIs."""

import pytest

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient
from edfi_api.features.exchange.models import Connection
from tests.features.management_api.managing import Managing, created_id

SECRET_THERE = "not to be seen again"


@pytest.fixture
def body(management: Managing, settings) -> dict:
    settings.EDFI_API = settings.EDFI_API | {"STORE_KEYS": ("key of tests",)}
    client = ApiClient.objects.get(client_id=create_client("connection", "EdFiSandbox").key)
    return {
        "name": "lakeside",
        "direction": "pull",
        "address": "https://api.lakeside.example/",
        "key": "key",
        "secret": SECRET_THERE,
        "apiClientId": client.pk,
    }


def test_a_connection_is_made_changed_and_removed_and_its_secret_never_shown(management: Managing, body: dict) -> None:
    id_ = created_id(management.post("/v3/connections", body))
    stored = Connection.objects.get().secret

    shown = management.get(f"/v3/connections/{id_}")

    assert SECRET_THERE not in shown.content.decode() and stored not in shown.content.decode()
    assert shown.json() == {
        **{name: value for name, value in body.items() if name != "secret"},
        "id": id_,
        "tokenAddress": "",
        "dataStoreId": None,
        "scope": None,
        "schoolYear": None,
        "readProfile": "",
        "writeProfile": "",
        "selection": "all",
        "resources": [],
        "withDescriptors": True,
        "educationOrganizationIds": [],
        "descriptorMapping": "",
        "requestsPerSecond": None,
        "enabled": False,
        "state": None,
    }
    changed = {name: value for name, value in body.items() if name != "secret"} | {"id": id_, "enabled": True}
    assert management.put(f"/v3/connections/{id_}", changed).status_code == 204
    assert (Connection.objects.get().is_enabled, Connection.objects.get().secret) == (True, stored)
    assert management.delete(f"/v3/connections/{id_}").status_code == 204
    assert management.get("/v3/connections").json() == []


def test_connections_are_found_by_their_direction(management: Managing, body: dict) -> None:
    """`direction` is the parameter of the order, as in every list."""
    management.post("/v3/connections", body)

    assert [each["name"] for each in management.get("/v3/connections?connectionDirection=pull").json()] == ["lakeside"]
    assert management.get("/v3/connections?connectionDirection=push&direction=desc").json() == []


@pytest.mark.parametrize(
    ("changes", "member"),
    [
        ({"name": "with blank"}, "Name"),
        ({"direction": "both"}, "Direction"),
        ({"address": "ftp://lakeside.example"}, "Address"),
        ({"secret": None}, "Secret"),
        ({"apiClientId": 123}, "ApiClientId"),
        ({"dataStoreId": 123}, "DataStoreId"),
        ({"selection": "some"}, "Selection"),
        ({"schoolYear": -1}, "SchoolYear"),
        ({"descriptorMapping": "nonsense"}, "DescriptorMapping"),
        ({"educationOrganizationIds": [0]}, "EducationOrganizationIds[0]"),
    ],
)
def test_what_cannot_be_used_is_refused(management: Managing, body: dict, changes: dict, member: str) -> None:
    refused = management.post("/v3/connections", body | changes)

    assert (refused.status_code, [*refused.json()["validationErrors"]]) == (400, [member])


def test_a_name_is_given_once_in_any_case(management: Managing, body: dict) -> None:
    created_id(management.post("/v3/connections", body))

    refused = management.post("/v3/connections", body | {"name": "LAKESIDE"})

    assert refused.json()["validationErrors"] == {"Name": ["A connection with this name already exists."]}


def test_the_client_of_a_connection_is_not_removed(management: Managing, body: dict) -> None:
    created_id(management.post("/v3/connections", body))

    assert management.delete(f"/v3/apiClients/{body['apiClientId']}").status_code == 409
